"""Rewriting: a policy says what each link becomes, and the new bytes are spliced into the document.

In: an Entity and a policy. Out: the bytes of the document in which only links have changed.
Does not know the inventory, files or the command.
"""
