"""Codings: decoded values, offsets of their units in the raw bytes, and encoding of new values.

The invariant of every coding: for any edit of the value, the spliced raw bytes decode to the spliced value.
"""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from webencodings.labels import LABELS

from absolve.core.model import Edit, Part
from absolve.core.protocols import Coding
from absolve.encodings.charsets import UTF_8, Charset, by_label, inside, lookup
from absolve.encodings.codings import CharacterReferences, Raw, Unquoted, quoted
from absolve.encodings.offset_map import UnitOffsets
from absolve.encodings.standard import SURROGATE, unit_at
from absolve.formats.css import DOUBLE_QUOTED, SINGLE_QUOTED, UNQUOTED
from absolve.formats.json.tokens import JSONString
from absolve.rewriting.edits import lower, splice

CHARSETS = sorted({charset for label in LABELS if (charset := lookup(label)) is not None})
TRANSPARENT = [charset for charset in CHARSETS if charset.transparent]
DOUBLE, SINGLE, TEXT = (CharacterReferences(UTF_8, quote) for quote in (b'"', b"'", b""))


def test_a_value_may_be_longer_than_its_raw_bytes_can_be_by_32_bits() -> None:
    offsets = UnitOffsets()
    for end, raw_start, raw_end in ((1, 0, 3), (1 << 32, 4, 5), (1 << 33, 6, 9)):
        offsets.add(end, raw_start, raw_end)
    assert [offsets.start(at) for at in (0, 1, 2, 1 << 32, (1 << 32) + 1, 1 << 33)] == [0, 3, 4, 5, 6, 9]
    assert [offsets.end(at) for at in (1, 2, 3, 1 << 32, (1 << 32) + 1, (1 << 33) + 1)] == [3, 4, 5, 5, 6, 10]


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 127, 128, 40_000])] * 3), max_size=100), st.integers(0, 5))
def test_an_offset_map_returns_the_units_that_were_added(units: list[tuple[int, int, int]], beyond: int) -> None:
    offsets = UnitOffsets()
    end = raw_end = 0
    added: list[tuple[int, int, int, int]] = []
    for between, raw, new in units:
        added.append((end + between, end + between + new, raw_end + between, raw_end + between + raw))
        _, end, raw_start, raw_end = added[-1]
        offsets.add(end, raw_start, raw_end)
    for position in sorted({at + by for unit in added for at in unit[:2] for by in (-1, 0, 1)} | {end + beyond}):
        if position < 0:
            continue
        begun = [unit for unit in added if unit[0] <= position]
        _, end, raw_start, raw_end = begun[-1] if begun else (0, 0, 0, 0)
        assert offsets.start(position) == (raw_start if position < end else raw_end + position - end)
        begun = [unit for unit in added if unit[0] < position]
        _, end, _, raw_end = begun[-1] if begun else (0, 0, 0, 0)
        assert offsets.end(position) == raw_end + max(position - end, 0)


# --- decoding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [b"", b"plain", "été".encode(), b"\xff", b"a&b", b"?a=1&b=2&copy=3", b"a\nb\tc", b"'", b"\\", b"%26"])
def test_a_value_without_references_decodes_to_itself(value: bytes) -> None:
    assert DOUBLE.decode(value) is value or DOUBLE.decode(value) == value
    assert DOUBLE.decode_mapped(value)[0] == value
    assert DOUBLE.encode(value) == value


@pytest.mark.parametrize(("coding", "value", "raw"), [
    (DOUBLE, b"'<>`= \n", b"'&lt;&gt;`= \n"), (DOUBLE, b'"', b"&quot;"), (SINGLE, b"\"'", b'"&#39;'), (TEXT, b"\"'<a>", b"\"'&lt;a&gt;"),
    (DOUBLE, b"\x0e\x0f\x1b$B", b"&#14;&#15;&#27;$B"), (DOUBLE, b"\r", b"&#13;"), (DOUBLE, b"a&b", b"a&b"),
    (DOUBLE, b"&amp;", b"&amp;amp;"), (DOUBLE, b"?x&copy=3&copy;", b"?x&copy=3&amp;copy;"),
    (CharacterReferences(by_label("latin1"), b'"'), "éп".encode(), b"\xe9&#1087;"),
    (Raw(by_label("latin1")), "éп".encode(), b"\xe9%D0%BF"),
    (Raw(by_label("latin1")), b"\x80", b"\x80"),  # a byte from elsewhere that is no character
    (Raw(by_label("utf-16le")), b"\x80", b"\x80\xdc"),
])
def test_encoding_escapes_only_what_the_place_requires(coding: Coding, value: bytes, raw: bytes) -> None:
    assert coding.encode(value) == raw


@pytest.mark.parametrize(("value", "before", "after", "raw"), [
    (b"x&", b"", b"copy;", b"x&amp;"), (b"x&", b"", b"copy", b"x&amp;"), (b"x&", b"", b"copy=", b"x&"), (b"x&am", b"", b"p;", b"x&amp;am"),
    (b"http:", b"x&quot", b"/", b";http:"),  # otherwise it would be &quothttp
    (b"http:", b"x&quot;", b"/", b"http:"), (b"http:", b"x&#39", b"/", b"http:"), (b"1", b"x&#39", b"/", b";1"),
    (b"ftp:", b"x&#x27", b"/", b";ftp:"), (b"http:", b"x&foo", b"/", b"http:"), (b"=", b"x&quot", b"", b";="),
    (b"http:", b"url=", b"/", b"http:"),
])
def test_encoding_considers_the_bytes_around_the_edit(value: bytes, before: bytes, after: bytes, raw: bytes) -> None:
    assert DOUBLE.encode(value, after, before) == raw


@pytest.mark.parametrize(("quote", "raw", "settled"), [
    (1, b"http://h/x", b"http://h/x"), (1, b"http://h/x/", b"http://h/x/"), (1, b"", b'""'), (1, b"a b", b'"a b"'), (1, b"a\tb", b'"a\tb"'),
    (1, b"?a=b", b'"?a=b"'), (1, b"a'b", b'"a\'b"'), (1, b'a"b', b'"a&quot;b"'), (1, b"a<b", b'"a<b"'), (1, b"a>b", b'"a>b"'),
    (1, b"a`b", b'"a`b"'), (0, b"x", b'="x"'), (0, b"", b'=""'),
])
def test_an_unquoted_value_gets_quotes_if_it_needs_them(quote: int, raw: bytes, settled: bytes) -> None:
    common = Unquoted(UTF_8, None, absent=not quote)
    coding = common.of((3, 4))
    assert (common.slot, coding.slot) == (None, (3, 4))
    assert common.settle(raw) == coding.settle(raw) == settled


# --- edits of the value are edits of the raw bytes --------------------------------------------------------------------

ATOMS = st.sampled_from(
    "a x 1 ; = # & &amp; &amp &quot &quot; &#39 &#39; &copy &copy; &notit; &not it; &#x2F; &#13; &NotEqualTilde; &lt;"
    " < </ <!-- ' ( ) / \\ , é п 日本 ー € 😀 http://h/?a=1&b=2".split(" ")
) | st.sampled_from([" ", "\n", "\t", "\r\n", "\r", "\\41 ", "\\\n", "\\'", "\u00a0"])
TEXTS = st.lists(ATOMS, max_size=7).map("".join)
NEW = st.sampled_from(["", "http://h/", "/", "x", "1", "é", "日", "a&b", "&copy;", "&amp", "'\"", "<", " "])


def spliced(coding: Coding, raw: bytes, start: int, end: int, new: bytes) -> tuple[bytes, bytes]:
    """Return the decoded raw bytes after an edit of the value, and the expected value."""
    value, offsets = coding.decode_mapped(raw)
    assert offsets is not None
    written = splice(raw, lower([Edit(start, end, new)], raw, Part("", 0, len(raw), coding), offsets))
    return coding.decode_mapped(written)[0], value[:start] + new + value[end:]


def spans(value: bytes) -> list[int]:
    """Return offsets at which references may begin and end: after non-word characters, and at both ends."""
    return [at for at in range(len(value) + 1) if at in {0, len(value)} or value[at - 1 : at] in b" \n\t,;='\"()"]


@pytest.mark.parametrize("quote", [b'"', b"'", b""])
@settings(max_examples=50)
@given(data=st.data(), text=TEXTS, new=NEW)
def test_edits_of_values_with_character_references_decode_to_the_edited_value(quote: bytes, data: st.DataObject, text: str, new: str) -> None:
    coding = CharacterReferences(UTF_8, quote)
    raw = text.encode().replace(quote or b"<", b"")
    value = coding.decode(raw)
    assert coding.decode_mapped(raw)[0] == value
    start, end = sorted((data.draw(st.sampled_from(spans(value))), data.draw(st.sampled_from(spans(value)))))
    assume(not re.search(rb"&#?\w*\Z", value[:start] + new.encode()))  # no open `&` before the following text
    got, wanted = spliced(coding, raw, start, end, new.encode())
    assert got == wanted


@settings(max_examples=50)
@given(data=st.data(), charset=st.sampled_from(CHARSETS), raw=st.binary(max_size=10), text=TEXTS)
def test_an_insertion_in_ascii_keeps_the_bytes_of_every_charset(data: st.DataObject, charset: Charset, raw: bytes, text: str) -> None:
    raw = charset.encode(text, "absolve.percent") + (raw if charset.transparent else b"")
    codings: list[Coding] = [Raw(charset)]
    if charset.transparent:
        raw = raw.replace(b'"', b"")
        codings.append(CharacterReferences(charset, b'"'))
    for coding in codings:
        value, offsets = coding.decode_mapped(raw)
        if charset.transparent:
            assert coding.decode(raw) == value
        at = data.draw(st.sampled_from([at for at in spans(value) if value[at - 1 : at].isascii()]))
        assert offsets is not None
        got, wanted = spliced(coding, raw, at, at, b"http://h/")
        assert got == wanted


@settings(max_examples=50)
@given(data=st.data(), charset=st.sampled_from(TRANSPARENT), text=TEXTS, new=NEW)
def test_a_replacement_is_written_in_the_charset_or_by_reference(data: st.DataObject, charset: Charset, text: str, new: str) -> None:
    coding = CharacterReferences(charset, b'"')
    raw = charset.encode(text, "absolve.references")
    value = coding.decode(raw)
    start, end = sorted((data.draw(st.sampled_from(spans(value))), data.draw(st.sampled_from(spans(value)))))
    assume(not re.search(rb"&#?\w*\Z", value[:start] + new.encode()))
    got, wanted = spliced(coding, raw, start, end, new.encode())
    assert got == wanted


@pytest.mark.parametrize(
    ("coding", "never"), [(DOUBLE_QUOTED, '"\n\r'), (SINGLE_QUOTED, "'\n\r"), (UNQUOTED, "\"'() \t\n\r"), (JSONString(), '"\n\r\t\\')]
)
@given(text=TEXTS, new=NEW)
def test_edits_of_css_and_json_strings_decode_to_the_edited_value(coding: Coding, never: str, text: str, new: str) -> None:
    raw = text.translate(dict.fromkeys(map(ord, never))).rstrip("\\").encode()
    value = coding.decode(raw)
    assert coding.decode_mapped(raw)[0] == value
    assert coding.decode(coding.encode(new.encode())) == new.encode()
    got, wanted = spliced(coding, raw, 0, 0, new.encode())
    assert got == wanted


@pytest.mark.parametrize("label", ["utf-16le", "utf-16be", "iso-2022-jp", "utf-8", "shift_jis", "windows-1251"])
def test_edits_through_nested_codings_decode_to_the_edited_value(label: str) -> None:
    charset = by_label(label)
    page = "日本 <iframe srcdoc='<a href=&quot;x&quot;>п</a>'>"
    raw = charset.encode(page, "absolve.references")
    outer, inner = Raw(charset), quoted(inside(charset), 0x27)
    value, mapped = outer.decode_mapped(raw)
    start, end = value.index(b"'") + 1, value.rindex(b"'")
    document, offsets = inner.decode_mapped(value[start:end])
    assert mapped is not None
    assert offsets is not None
    at = document.index(b"x")
    middle = lower([Edit(at, at + 1, "é'日&amp;".encode())], value, Part("", start, end, inner), offsets)
    written = splice(raw, lower(middle, raw, Part("", 0, len(raw), outer), mapped))
    wanted = document.replace(b"x", "é'日&amp;".encode(), 1)
    again = outer.decode(written)
    assert inner.decode(again[again.index(b"'") + 1 : again.rindex(b"'")]) == wanted
    assert written.startswith(raw[: len(charset.encode("日本 <", "absolve.references"))])


@pytest.mark.parametrize(("label", "raw", "value"), [
    ("iso-2022-jp", b"a\x1b", "a\ufffd"), ("iso-2022-jp", b"\x1b&quot", "\ufffd&quot"), ("iso-2022-jp", b"\x1b(Ba\x1b(Jb", "ab"),
    ("iso-2022-jp", b'\x1b$B$"$$\x1b(Bx\x1b(I1\x1b(By', "あいxｱy"),
    ("iso-2022-jp", b'\x1b$B$"\nx\x1b(B\n', "あ\ufffd\ufffd\n"),  # a line end does not reset the state
    ("iso-2022-jp", b'\x1b$B$"\x1b$"\x1b$@$"\x1b(J\\', "あ\ufffdああ\xa5"),
    ("iso-2022-jp", b"\x1b$B$", "\ufffd"),
    ("iso-2022-jp", b'\x1b\xa4\x1b\x1b$B$"\x1b(B\x1b\x1b(B\xff', "\ufffd\ufffd\ufffdあ\ufffd\ufffd"),
    ("gbk", b"\x810 \xff", "\udc810 \udcff"), ("gbk", b"a\x843 \x96\xde", "a\udc843 栟"), ("euc-jp", b"\xfd\xa3\xf9\xa3", "\udcfd\udca3鍈"),
    ("shift_jis", b"\x83'\x85\xb1\xa0\xfd", "\udc83'\udc85\udcb1\udca0\udcfd"),
    ("gb18030", b"\x842\x810\x80", "\udc842\udc810€"),
])
def test_each_invalid_byte_is_a_unit(label: str, raw: bytes, value: str) -> None:
    found, offsets = Raw(by_label(label)).decode_mapped(raw)
    assert found == value.encode("utf-8", "surrogatepass")
    assert offsets is not None
    assert offsets.end(len(found)) == offsets.start(len(found)) == len(raw)


def test_an_escape_sequence_belongs_to_the_next_character_and_the_one_to_ascii_to_the_previous() -> None:
    raw = b'a\x1b$B$"$$$&\x1b(Bb\x1b(Jc'
    value, offsets = Raw(by_label("iso-2022-jp")).decode_mapped(raw)
    assert value == "aあいうbc".encode()
    assert offsets is not None
    assert [(offsets.start(at), offsets.end(at)) for at in (0, 1, 4, 7, 10, 11, 12)] == [(0, 0), (1, 1), (6, 6), (8, 8), (13, 13), (17, 14), (18, 18)]
    value, offsets = Raw(by_label("iso-2022-jp")).decode_mapped(b"a\x1b\x1b\xa4b")  # without characters between them they are one unit
    assert value == "a\ufffd\ufffd\ufffdb".encode()
    assert offsets is not None
    assert [(offsets.start(at), offsets.end(at)) for at in (0, 1, 4, 10, 11)] == [(0, 0), (1, 1), (1, 4), (4, 4), (5, 5)]


def test_offsets_of_a_long_utf_16_document_are_those_of_its_characters() -> None:
    text = "aé日😀\ud800" * 3000
    raw = text.encode("utf-16-le", "surrogatepass")
    value, offsets = Raw(by_label("utf-16le")).decode_mapped(raw)
    assert offsets is not None
    at = raw_at = 0
    for character in text[:10] * 3 + text[30:]:
        assert (offsets.start(at), offsets.end(at)) == (raw_at, raw_at)
        at += len(character.encode("utf-8", "surrogatepass"))
        raw_at += len(character.encode("utf-16-le", "surrogatepass"))
    assert (at, raw_at) == (len(value), len(raw))


def one_by_one(charset: Charset, raw: bytes) -> list[tuple[bytes, int]]:
    """Decode raw bytes to UTF-8 one character or error at a time; return the bytes of each."""
    found = []
    while raw:
        sizes = (1, 2, 3, 4) if not charset.one_byte else ()
        whole = (size for size in sizes if not SURROGATE.search(charset.decode(raw[:size])))
        size = next(whole, unit_at(charset.codec, raw, 0)[1])
        found.append((charset.decode(raw[:size]).encode("utf-8", "surrogatepass"), len(raw[:size])))
        raw = raw[size:]
    return found


@settings(max_examples=50)
@given(st.data())
def test_a_long_value_decodes_to_its_characters_decoded_one_by_one(data: st.DataObject) -> None:
    charset = data.draw(st.sampled_from([charset for charset in TRANSPARENT if charset.codec != "utf-8"]))
    some = st.one_of(st.binary(max_size=8), st.text(max_size=8).map(lambda text: charset.encode(text, "ignore")), st.just(b"x" * 50))
    raw = b"".join(data.draw(st.lists(some, max_size=40))) * data.draw(st.sampled_from([1, 20]))
    value, offsets = Raw(charset).decode_mapped(raw)
    assert offsets is not None
    at = raw_at = 0
    places = {0: (0, 0)}
    for character, size in one_by_one(charset, raw):
        assert (value[at : at + len(character)], offsets.start(at), offsets.end(at)) == (character, raw_at, raw_at)
        places |= dict.fromkeys(range(at + 1, at + len(character)), (raw_at, raw_at + size))
        at += len(character)
        raw_at += size
        places[at] = (raw_at, raw_at)
    assert (at, raw_at) == (len(value), len(raw))
    for place in data.draw(st.lists(st.sampled_from(sorted(places)), max_size=20)):  # in any order
        assert (offsets.start(place), offsets.end(place)) == places[place]
