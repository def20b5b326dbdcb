"""The web-platform-tests of URLs and hosts: the whatwg profile gives the expected results, a test for each file.

ada-url, on which the profile is built, passes all of them since version 4; so nothing is pinned.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from material import SHARED, needs
from vectors import each_file

from absolve.urls import resolve, whatwg

SUITE = SHARED / "suites" / "urls" / "tests" / "wpt"
URLS = ("urltestdata.json", "urltestdata-javascript-only.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json")
HOSTS = ("toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json")


class Case(NamedTuple):
    """A reference, its base, and the expected URL (None: parsing fails)."""

    name: str
    reference: str
    base: str | None
    target: str | None


def urls(name: str) -> Iterator[Case]:
    for number, row in enumerate(json.loads((SUITE / name).read_text("utf-8"))):
        if isinstance(row, dict):  # strings between the cases are headings
            target = None if row.get("failure") else row["href"]
            yield Case(f"{name}:{number}", row["input"], row.get("base"), target)


def hosts(name: str) -> Iterator[Case]:
    for number, row in enumerate(json.loads((SUITE / name).read_text("utf-8"))):
        if isinstance(row, dict) and row["input"]:  # no URL has an empty host
            target = None if row["output"] is None else f"https://{row['output']}/x"
            yield Case(f"{name}:{number}", f"https://{row['input']}/x", None, target)


@each_file(URLS, urls, SUITE)
def test_references_resolve_to_the_urls_of_the_web_platform_tests(case: Case) -> None:
    assert whatwg.parse(case.reference, case.base) == case.target
    if case.base is None or whatwg.parse(case.base) is not None:  # for documents an unusable base is no base
        assert resolve(case.base or "", case.reference, "whatwg") == case.target


@each_file(HOSTS, hosts, SUITE)
def test_hosts_are_serialized_as_in_the_web_platform_tests(case: Case) -> None:
    assert resolve("", case.reference, "whatwg") == case.target


@needs(SUITE)
def test_the_suite_has_the_expected_number_of_vectors() -> None:
    """Check the number of vectors: a reader that finds none would let every file pass."""
    assert sum(len(list(urls(name))) for name in URLS) == 921
    assert sum(len(list(hosts(name))) for name in HOSTS) == 2777
