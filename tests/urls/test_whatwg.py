"""The whatwg profile: the URL Standard and its tests, queries in the document's charset, and PrefixResolver."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from material import SHARED
from vectors import each_file

from absolve.core.errors import UsageError
from absolve.urls import whatwg

FILE = SHARED / "suites" / "urls" / "tests" / "wpt" / "percent-encoding.json"


class Query(NamedTuple):
    """One case of the suite: a query, and its encodings in several charsets."""

    name: str
    text: str
    encoded: dict[str, str]


def queries() -> Iterator[Query]:
    for number, row in enumerate(json.loads(FILE.read_text(encoding="utf-8"))):
        if isinstance(row, dict):  # strings between the cases are headings
            yield Query(f"{FILE.name}:{number}", row["input"], row["output"])


@each_file([FILE.name], lambda _: queries(), FILE.parent)
def test_every_query_of_the_web_platform_tests_has_the_expected_encoding(query: Query) -> None:
    found = {charset: whatwg.profile("http://h/", charset)(f"?{query.text}") for charset in query.encoded}
    assert found == {charset: f"http://h/?{encoded}" for charset, encoded in query.encoded.items()}


QUERIES = [
    ("utf-8", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("windows-1252", "http://h/a", "?é#é", "http://h/a?%E9#%C3%A9"),
    ("ISO-8859-1 ", "http://h/a", "é?€", "http://h/%C3%A9?%80"),  # a label of windows-1252
    ("windows-1252", "http://h/a", "#a?é", "http://h/a#a?%C3%A9"),
    ("windows-1252", "http://h/a", "?Ω'<", "http://h/a?%26%23937%3B%27%3C"),
    ("windows-1252", "http://h/a", "HTTPS://o/?\té\n", "https://o/?%E9"),
    ("windows-1252", "app://h/a", "?é", "app://h/a?%C3%A9"),  # not special
    ("windows-1252", "ws://h/a", "?é", "ws://h/a?%C3%A9"),  # special, but always UTF-8
    ("windows-1252", "http://h/a", "app://o/?é", "app://o/?%C3%A9"),
    ("windows-1252", "http://h/a", "mailto:u?é", "mailto:u?%C3%A9"),
    ("windows-1252", "http://h/a", "?\udce9", "http://h/a?%26%2365533%3B"),
    ("windows-1252", "", "http://h/?é", "http://h/?%E9"),
    ("shift_jis", "http://h/a", "?表|¥", "http://h/a?%95\\|\\"),
    ("euc-jp", "http://h/a", "?−－～¥", "http://h/a?%A1%DD%A1%DD%A1%C1\\"),
    ("iso-2022-jp", "http://h/a", "?表#é", "http://h/a?%1B$BI=%1B(B#%C3%A9"),
    ("gbk", "http://h/a", "?€", "http://h/a?%80"), ("utf-16le", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("replacement", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("cp437", "http://h/a", "?é", "http://h/a?%82"),  # a charset of Python, not of the Encoding Standard
    ("utf-7", "http://h/a", "?é", "http://h/a?%C3%A9"), ("utf-8", "http://h/\udce9/a", "\udce8", "http://h/%EF%BF%BD/%EF%BF%BD"),
]


@pytest.mark.parametrize(("charset", "base", "reference", "target"), QUERIES)
def test_queries_of_special_schemes_are_in_the_charset_of_the_document(charset: str, base: str, reference: str, target: str) -> None:
    assert whatwg.profile(base, charset)(reference) == target


def test_an_unknown_charset_is_an_error() -> None:
    for charset in ("no such charset", "", "rot13", "base64"):
        with pytest.raises(UsageError, match="unknown charset"):
            whatwg.profile("http://h/", charset)
