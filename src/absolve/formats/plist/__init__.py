"""Property lists that hold web pages: the `.webarchive` files of Safari, in the binary and the XML form.

In: the bytes of a web archive. Out: its resources as parts, and for the binary form the offsets to renew when they
change. Does not know the objects that other property lists have.
"""
