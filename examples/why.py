"""Print for each link which base applies and why: python examples/why.py PAGE [URL]"""

import sys
from pathlib import Path

import absolve


def main(page: str, url: str | None = None) -> None:
    for link in absolve.links(Path(page).read_bytes(), name=page, url=url):
        position = f"{page}:{link.line}:{link.column}"
        print(f"{position}: {link.reference} -> {link.target or '?'}")
        print(f"    {link.base_layer}: {link.base or 'no base'} ({link.base_source or 'no source'})")


if __name__ == "__main__":
    main(*sys.argv[1:])
