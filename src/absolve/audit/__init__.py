"""Audit a site: a verdict for every link, for every URL of the old site, and for the map between them.

In: inventories of the new and the old site, and maps. Out: tables of results. It imports no command line.
`absolve.audit(...)` is `library.audit`: the package can be called, as `absolve.mirror` can.
"""

from absolve.core.arguments import make_callable

make_callable(__name__)
