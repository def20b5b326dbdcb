"""The whatwg profile: the URL Standard, its own tests, queries in the document's charset, the short way."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from resolver_strategies import bases, references

from absolve.core.errors import UsageError
from absolve.urls import whatwg

SUITE = Path(os.environ.get("ABSOLVE_SHARED") or Path(__file__).parents[3] / "shared") / "suites/urls/tests/wpt"

needs_suite = pytest.mark.skipif(not SUITE.is_dir(), reason="the web-platform-tests of URLs are not there")


def rows(name: str) -> list[dict[str, Any]]:
    return [row for row in json.loads((SUITE / name).read_text(encoding="utf-8")) if isinstance(row, dict)]


@needs_suite
def test_every_query_of_the_web_platform_tests_is_encoded_alike() -> None:
    for row in rows("percent-encoding.json"):
        for charset, output in row["output"].items():
            assert whatwg.profile("http://h/", charset)(f"?{row['input']}") == f"http://h/?{output}", (charset, row)


QUERIES = [
    ("utf-8", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("windows-1252", "http://h/a", "?é#é", "http://h/a?%E9#%C3%A9"),
    ("ISO-8859-1 ", "http://h/a", "é?€", "http://h/%C3%A9?%80"),  # a label of windows-1252
    ("windows-1252", "http://h/a", "#a?é", "http://h/a#a?%C3%A9"),
    ("windows-1252", "http://h/a", "?Ω'<", "http://h/a?%26%23937%3B%27%3C"),
    ("windows-1252", "http://h/a", "HTTPS://o/?\té\n", "https://o/?%E9"),
    ("windows-1252", "app://h/a", "?é", "app://h/a?%C3%A9"),  # not special
    ("windows-1252", "ws://h/a", "?é", "ws://h/a?%C3%A9"),  # special, but UTF-8 all the same
    ("windows-1252", "http://h/a", "app://o/?é", "app://o/?%C3%A9"),
    ("windows-1252", "http://h/a", "mailto:u?é", "mailto:u?%C3%A9"),
    ("windows-1252", "http://h/a", "?\udce9", "http://h/a?%26%2365533%3B"),
    ("windows-1252", "", "http://h/?é", "http://h/?%E9"),
    ("shift_jis", "http://h/a", "?表|¥", "http://h/a?%95\\|\\"),
    ("euc-jp", "http://h/a", "?−－～¥", "http://h/a?%A1%DD%A1%DD%A1%C1\\"),
    ("iso-2022-jp", "http://h/a", "?表#é", "http://h/a?%1B$BI=%1B(B#%C3%A9"),
    ("gbk", "http://h/a", "?€", "http://h/a?%80"),
    ("utf-16le", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("replacement", "http://h/a", "?é", "http://h/a?%C3%A9"),
    ("cp437", "http://h/a", "?é", "http://h/a?%82"),  # Python's, not the Encoding Standard's
    ("utf-7", "http://h/a", "?é", "http://h/a?%C3%A9"),
]


@pytest.mark.parametrize(("charset", "base", "reference", "target"), QUERIES)
def test_queries_of_special_schemes_are_in_the_charset_of_the_document(
    charset: str, base: str, reference: str, target: str
) -> None:
    assert whatwg.profile(base, charset)(reference) == target


@pytest.mark.parametrize("charset", ["no such charset", "", "rot13", "base64"])
def test_an_unknown_charset_is_an_error(charset: str) -> None:
    with pytest.raises(UsageError, match="unknown charset"):
        whatwg.profile("http://h/", charset)


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert whatwg.profile("http://h/\udce9/a")("\udce8") == "http://h/%EF%BF%BD/%EF%BF%BD"


@pytest.mark.parametrize("base", ["", "http://[x", "g", "//h/g"])
def test_without_a_usable_base_only_the_absolute_is_resolved(base: str) -> None:
    resolve = whatwg.profile(base)
    assert [resolve(reference) for reference in ("", "g", "/g", "//g", "?y", "#s", ".")] == [None] * 7
    assert resolve("http://H/../g") == "http://h/g"


@given(bases, references)
@example("http://h/a", "a/%2e%2e/b")
@example("file:///C:/a", "/x")
@example("http://h?q", "x")
def test_the_short_way_gives_what_the_parser_gives(base: str, reference: str) -> None:
    outer = whatwg.parse(base)
    assert whatwg.profile(base)(reference) == whatwg.parse(reference, outer)
