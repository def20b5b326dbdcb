"""Count the problems of some pages: python examples/broken.py PAGE..."""

import sys
from collections import Counter
from pathlib import Path

import absolve


def main(*pages: str) -> None:
    problems = Counter(
        problem for page in pages for link in absolve.links(Path(page).read_bytes(), name=page) for problem in link.problems
    )
    for problem, count in problems.most_common():
        print(f"{count:7} {problem}")


if __name__ == "__main__":
    main(*sys.argv[1:])
