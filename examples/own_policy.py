"""Move a site: change every link to the old host to the new one, keep all others.

python examples/own_policy.py PAGE OLD-HOST NEW-HOST > moved.html
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import absolve


def main(page: str, old: str, new: str) -> None:
    def moved(link: absolve.Resolved) -> str | None:
        if link.target is None:
            return None
        parts = urlsplit(link.target)
        return parts._replace(netloc=new).geturl() if parts.hostname == old else None

    sys.stdout.buffer.write(absolve.rewrite(Path(page).read_bytes(), name=page, policy=moved))


if __name__ == "__main__":
    main(*sys.argv[1:])
