"""Mirrors: a copy of a capture that works without a network.

In: captured documents with their URLs. Out: a folder or a ZIP with one file for each URL, in which links lead from file
to file, and a map (mirror.sqlite). It does not know the command line. `absolve.mirror(...)` is `library.mirror`: the
package can be called, because it has the name that the function has in the library.
"""

from absolve.core.arguments import make_callable

make_callable(__name__)
