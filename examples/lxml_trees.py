"""Make the links of an lxml tree absolute, in place, and print them: python examples/lxml_trees.py PAGE [URL]

To replace lxml's own function, change one import:

    from lxml.html import make_links_absolute
    from absolve.trees import make_links_absolute
"""

import sys
from pathlib import Path

from lxml import html

from absolve import trees


def main(page: str, url: str | None = None) -> None:
    tree = html.document_fromstring(Path(page).read_bytes())
    print(f"base: {trees.base(tree, url).url or 'none'}")
    trees.make_links_absolute(tree, url)
    for link in trees.links(tree, url):
        print(f"{page}:{link.line}: {link.element} {link.attribute}: {link.reference}")


if __name__ == "__main__":
    main(*sys.argv[1:])
