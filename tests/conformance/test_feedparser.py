"""feedparser's suite for bases in feeds: `absolve.links` gives every absolute URL that it expects.

Different expectations are pinned in `data/feedparser_pins.json`, each file with its reason; a pin that begins to pass
must be removed.
"""

import codecs
import re

import pytest
from material import SHARED, each, pins

import absolve

SUITE = SHARED / "xml" / "feedparser" / "tests" / "wellformed" / "base"
PINS: dict[str, str] = pins("feedparser")
SERVER = "http://127.0.0.1:8097/tests/wellformed/base/"  # the server of feedparser's tests

HEADER = re.compile(r"^Header:\s*Content-Location:\s*(\S+)", re.MULTILINE)
EXPECT = re.compile(r"^Expect:\s*not bozo and (.+)", re.MULTILINE)
URL = re.compile(r"https?://[^'\"<>\s]+")


def names() -> list[str]:
    return sorted(path.name for path in SUITE.glob("*.xml"))


def expected(comment: str) -> tuple[bool, list[str]]:
    """Return whether a base or targets are expected, and their URLs."""
    found = EXPECT.search(comment)
    assert found, comment
    _, _, value = found[1].partition("==")
    return "['base']" in found[1], URL.findall(codecs.decode(value, "unicode_escape"))


@each("name", [pytest.param(name) for name in names()], SUITE)
def test_links_have_the_targets_that_feedparser_expects(name: str) -> None:
    data = (SUITE / name).read_bytes()
    comment = data.decode().partition("-->")[0]
    location = HEADER.search(comment)
    rows = list(absolve.links(data, name=name, url=location[1] if location else SERVER + name))
    is_base, urls = expected(comment)
    assert urls
    seen = {row.base for row in rows if row.attribute != "xml:base"} if is_base else {row.target for row in rows}
    passes = seen.issuperset(urls)
    assert passes != (name in PINS), f"{name}: expected {urls}, found {seen}; pinned: {PINS.get(name)}"


def test_every_feedparser_pin_names_a_file_of_the_suite() -> None:
    assert set(PINS) <= set(names()) or not names()
