"""Names that Linux, macOS and Windows accept."""

from hypothesis import example, given
from hypothesis import strategies as st

from absolve.mirror.paths import clipped, decoded, is_reserved, letters, refused, safe

READABLE = {
    "a.html": "a.html", "caf%C3%A9": "caf\u00e9", "e%CC%81": "\u00e9", "%FF": "%FF", "a%2Fb": "a_b", "a%5Cb%3A": "a_b_",
    "..": "__", "a.": "a_", "a......": "a___", "%20a%20": "_a_", "%00": "_", "a%E2%80%AEb": "a_b", "a%C2%A0b": "a_b",
    "con": "_con", "AUX.html": "_AUX.html", "lpt1.": "lpt1_", "progra~1": "_progra~1", "0~0": "______0~0",
    ".htaccess": "_.htaccess", "-rf.html": "_-rf.html", "--checkpoint=1": "_--checkpoint=1",
    "%2De%20sh%20x": "_-e sh x", ".Git": "_.Git", ".absolve-x": "_.absolve-x", ".x": "_.x",
    ".well-known": ".well-known",
    "x.%7B3050F4D8-98B5-11CF-BB82-00AA00BDCE0B%7D": "x.{3050F4D8-98B5-11CF-BB82-00AA00BDCE0B}_", "": "_",
}


def test_a_segment_gives_a_name_that_stays_readable() -> None:
    assert {segment: safe(segment).text for segment in READABLE} == READABLE
    assert all(safe(segment).is_exact is (name == decoded(segment)) for segment, name in READABLE.items())


@given(st.text(max_size=40))
@example("0~0")
@example("-")
def test_no_name_is_refused_or_reserved(segment: str) -> None:
    name = safe(segment).text
    assert refused(name) is None
    assert not is_reserved(name)
    assert name == ".well-known" or not name.startswith((".", "-"))
    assert safe(segment) == safe(segment)


REFUSED = {
    "a:b": "a character that Windows forbids", "a\x1f": "a character that Windows forbids",
    "a.": "a dot or a blank at the end", "a ": "a dot or a blank at the end",
    "nul.txt": "the name of a device on Windows", "x" * 256: "more than 255 bytes",
    "\u00e9" * 128: "more than 255 bytes", "x" * 255: None, "console": None,
}


def test_a_name_is_refused_for_a_reason() -> None:
    assert {name: refused(name) for name in REFUSED} == REFUSED


@given(st.text(max_size=60), st.integers(-3, 60))
def test_a_clipped_text_has_no_more_bytes_than_asked(text: str, most: int) -> None:
    found = clipped(text, most)
    assert len(found.encode()) <= max(most, 1)
    assert found == "_" or text.startswith(found)


def test_letters_of_a_digest_are_the_start_of_more_of_them() -> None:
    assert letters("http://h/", 4).startswith(letters("http://h/"))
    assert len(letters("http://h/")) == 8
    assert letters("\ud800", 60).isalnum()
