"""Say of each link which base ruled it and why: python examples/why.py PAGE [URL]"""

import sys
from pathlib import Path

import absolve


def main(page: str, url: str | None = None) -> None:
    for link in absolve.links(Path(page).read_bytes(), name=page, url=url):
        place = f"{page}:{link.line}:{link.column}"
        print(f"{place}: {link.reference} -> {link.target or '?'}")
        print(f"    {link.base_layer}: {link.base or 'no base'} ({link.base_source or 'nothing says where it is from'})")


if __name__ == "__main__":
    main(*sys.argv[1:])
