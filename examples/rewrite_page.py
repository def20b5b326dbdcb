"""Make every link of a saved page absolute: python examples/rewrite_page.py PAGE [URL] > absolute.html"""

import sys
from pathlib import Path

import absolve


def main(page: str, url: str | None = None) -> None:
    data = Path(page).read_bytes()
    sys.stdout.buffer.write(absolve.rewrite(data, name=page, url=url))


if __name__ == "__main__":
    main(*sys.argv[1:])
