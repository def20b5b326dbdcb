"""Printable text has no character that moves a cursor, reorders or hides text, and no user information of URLs."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError

HOSTILE = "\n\r\t\x00\x07\x08\x1b\x7f\x85\x9b\u200b\u200e\u2028\u2029\u202e\u2066\u2069\u061c\ufeff\ufe0f\u3164\U000e0041\udcff"


@pytest.mark.parametrize(("text", "shown"), [
    *((text, text) for text in ("", "plain", "a b", "é", "日本語", "🙂", 'q"\\', "&lt;")),
    ("a\nb", "a\\nb"), ("\x1b[31m", "\\x1b[31m"), ("\x9b31m", "\\x9b31m"), ("\x7f", "\\x7f"), ("\u202egnp.exe", "\\u202egnp.exe"),
    ("\u2028", "\\u2028"), ("\udcff", "\\udcff"), ("\U000e0041", "\\U000e0041"),
])
def test_only_invisible_characters_are_escaped(text: str, shown: str) -> None:
    assert printable.printable(text) == shown


def test_all_control_and_format_characters_of_unicode_are_escaped() -> None:
    text = printable.printable("".join(map(chr, range(sys.maxunicode + 1))))
    categories = {unicodedata.category(character) for character in set(text)}
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(st.sampled_from(HOSTILE + "a\\x🙂é")))
def test_escaping_is_idempotent(text: str) -> None:
    once = printable.printable(text)
    assert printable.printable(once) == once
    assert not set(HOSTILE) & set(once)


@pytest.mark.parametrize(("text", "masked"), [
    *((text, text) for text in (  # an at sign that ends no user information
        "http://h/", "mailto:user@host", "http://h/@scope/x", "http://h/npm@1.0/", "http://h//u@v", "http://h/?mail=a@b", "http://h/#a@b",
        "user@host: not-found: no such file", "@", "C:\\a@b.html:1:1: not-found: none", "file:///a@b.html", "d//a@b.html",
    )),
    ("http://user:secret@h/", "http://***@h/"), ("HTTPS://secret@h", "HTTPS://***@h"), ("//user:secret@h/x", "//***@h/x"),
    ("http://a@secret@h/", "http://***@h/"), ("http:\\\\user:secret@h", "http:\\\\***@h"), ("https:user:secret@h", "https:***@h"),
    ("ftp:/user:secret@h", "ftp:/***@h"),
    ("x:1: code: 'http://u:sec'ret@h/' is none, '//u:secret@h' too", None),
    ("//old=http://u:secret@h", "//old=http://***@h"),
    ("http://h/?u=http://u:secret@g/", "http://h/?u=http://***@g/"),
    ("http://h/ and http://u:secret@g/ and a@b", "http://h/ and http://***@g/ and a@b"),
    ("foo+bar://u:secret@h", "foo+bar://***@h"),
])
def test_user_information_is_masked(text: str, masked: str | None) -> None:
    found = printable.masked(text)
    assert "sec" not in found
    assert masked is None or found == masked
    assert printable.masked(found) == found


def test_the_line_of_a_diagnostic_is_one_line_and_its_fields_are_exact() -> None:
    diagnostic = Diagnostic("code", "of http://u:p@h/\x1b", "a\nb:1:1: forged: x", 2, 3)
    assert str(diagnostic) == "a\\nb:1:1: forged: x:2:3: code: of http://***@h/\\x1b"
    assert (diagnostic.name, diagnostic.text) == ("a\nb:1:1: forged: x", "of http://u:p@h/\x1b")
    assert str(DocumentError(diagnostic)) == str(diagnostic)


def test_a_traceback_shows_no_control_character_of_an_error() -> None:
    error = UsageError("no \x1b[2J http://u:p@h/\n")
    assert str(error) == "no \\x1b[2J http://***@h/\\n"
    assert error.message == "no \x1b[2J http://u:p@h/\n"


def test_the_caret_is_below_its_column_after_escaped_characters() -> None:
    shows = DocumentError(Diagnostic("c", "t", "n", 1, 5), "\t\x1b日xY").show()
    assert shows.splitlines()[1:] == ["     \\x1b日xY", "    " + " " * 8 + "^"]


@pytest.mark.parametrize("unit", ["http:/", "//", " //a", ":/a", "http:\\", ":", "/", ' "//'])
def test_masking_user_information_takes_linear_time(unit: str) -> None:
    """A candidate match is examined up to the next slash or blank, before which no other match begins."""
    for text in ("@" + unit * 50_000, unit * 50_000 + "@"):
        assert len(printable.masked(text)) <= len(text) + 3
