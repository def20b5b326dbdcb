"""What a file is: by its name, by its content, and what is none that is read."""

from __future__ import annotations

import pytest

from absolve import formats


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"plain text", None, "text/html"),
        (b"", "notes.txt", "text/html"),
        (b"plain text", "page.html", "text/html"),
        (b"plain text", "page.HTM", "text/html"),
        (b"a fragment <a href=x>", "-", "text/html"),
        (b"a fragment <a href=x>", "page.php", "text/html"),
        (b"a fragment <a href=x>", "index.html@id=3", "text/html"),
        ("<p>".encode("utf-16"), "-", "text/html"),
        (b" \n<!DOCTYPE html>", "notes.txt", "text/html"),
        (b"<a href=x>", "old.js", "text/html"),
        (b"plain text", "-", None),
        (b"plain text", "README", None),
        (b"plain text", "page.php", None),
        (b"a fragment <a href=x>", "notes.txt", None),
        (b"if (a<b) document.write('<p>')", "x.js", None),
        (b"print('<p>')", "x.py", None),
        (b"{}", "x.json", None),
        (b"\0\1", "x", None),
        (b"\0\1", "x.html", None),
    ],
)
def test_text_is_html_where_its_name_says_so_or_its_beginning_or_a_tag_and_no_other_name(
    data: bytes, name: str | None, media_type: str | None
) -> None:
    assert formats.sniff(data, name) == media_type


@pytest.mark.parametrize(
    ("data", "name", "other", "words"),
    [
        (b"x", "a.py", True, "text/x-python"),
        (b"\0", "a.png", True, "image/png"),
        (b"x", "-", True, "plain text"),
        (b"\0", "a", True, "binary data"),
        (b"\0", "a.html", False, "binary data"),  # it is broken, not of another kind
        (b"x", "a.html", False, "plain text"),
    ],
)
def test_what_is_of_another_kind_is_named(data: bytes, name: str, other: bool, words: str) -> None:
    assert formats.is_other(data, name) == other
    assert formats.in_words(data, name) == words
