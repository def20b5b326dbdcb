"""Split one attribute value into its references: srcset, refresh, lists of URLs (HTML Standard, RFC 8288).

In: the decoded value, UTF-8 bytes. Out: the spans of its references, as half-open byte offsets without surrounding
white space, in order. The delimiters are ASCII, so no character is split. `GRAMMARS` has a function for each value of
`LinkSite.syntax` (but for css and srcdoc, which are documents), `ESCAPES` one that escapes a URL before it replaces
such a span. All run in time linear in the value: the regular expressions have no nested quantifiers that backtrack.

>>> list(srcset(b"a.png 1x, b.png 2x"))
[(0, 5), (10, 15)]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.lazy_regex import pattern
from absolve.encodings.offset_map import replaced
from absolve.formats.sniffing import SCRIPT_END
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import cython


Span = tuple[int, int]

WHITE_SPACE: Final = b"\t\n\f\r "  # the HTML Standard's ASCII whitespace


def _trimmed(value: bytes, start: int, end: int) -> Span:
    """Return the span without ASCII white space at its ends; the empty span at `end` if all of it is white space."""
    text = value[start:end]
    inner = text.lstrip(WHITE_SPACE)
    start += len(text) - len(inner)
    return start, start + len(inner.rstrip(WHITE_SPACE))


def url(value: bytes) -> list[Span]:
    """Return the span of a URL that spaces may surround, for example (1, 7) in " a.html "; the empty URL counts."""
    return [_trimmed(value, 0, len(value))]


_WORD: Final = re.compile(rb"[^\t\n\f\r ]++")
def srcset(value: bytes) -> Iterator[Span]:
    """Yield the URLs of a srcset (HTML Standard 4.8.4.3.10, "parse a srcset attribute").

    `a.png 1x, b.png 2x` has two, `a.png` and `b.png`. A candidate with an invalid descriptor is included.
    """
    n: cython.Py_ssize_t = len(value)
    start: cython.Py_ssize_t = candidate(value, 0, n)
    end: cython.Py_ssize_t
    while start < n:
        end = word_end(value, start, n)
        yield start, without_commas(value, start, end)
        start = candidate(value, descriptors_end(value, end, n), n)


def candidate(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return where the next URL of a srcset begins, behind white space and commas (step 4)."""
    while i < n and (p[i] == 44 or p[i] == 32 or (9 <= p[i] <= 13 and p[i] != 11)):
        i += 1
    return i


def word_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the next ASCII white space, or `n`."""
    while i < n and p[i] != 32 and not (9 <= p[i] <= 13 and p[i] != 11):
        i += 1
    return i


def without_commas(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of a URL of a srcset without the commas behind it; its first byte is none (step 8)."""
    while p[end - 1] == 44 and end > start:
        end -= 1
    return end


def descriptors_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the descriptors of a candidate: the first comma outside parentheses, or `n`.

    `i` is the end of its URL; commas at its end separate it from the next one, and no descriptors follow. Steps 9 to
    15, the descriptor parser, do not affect the spans.
    """
    if p[i - 1] == 44:
        return i
    while i < n and p[i] != 44:
        if p[i] == 40:
            while i < n and p[i] != 41:
                i += 1
        i += 1
    return min(i, n)


def spaces(value: bytes) -> Iterator[Span]:
    """Yield space-separated tokens, for example `/a` and `/b` in `ping="/a /b"`; itemtype and others are alike."""
    return (found.span() for found in _WORD.finditer(value))


_BETWEEN_COMMAS: Final = re.compile(rb"[^,]++")


def commas(value: bytes) -> Iterator[Span]:
    """Yield comma-separated items, for example `a.jar` and `b.jar` in `archive="a.jar, b.jar"` (HTML 4.01 13.4)."""
    for found in _BETWEEN_COMMAS.finditer(value):
        start, end = _trimmed(value, found.start(), found.end())
        if start < end:
            yield start, end


# HTML Standard 4.2.5.3, shared declarative refresh steps
_REFRESH: Final = pattern(
    rb"[\t\n\f\r ]*+"  # 4. skip ASCII white space
    rb"[0-9.]++"  # 6 to 9. digits, or a full stop and then digits and full stops
    rb"(?=[;,\t\n\f\r ])"  # 11.1. anything else: return
    rb"[\t\n\f\r ]*+[;,]?+[\t\n\f\r ]*+"  # 11.2 to 11.4
    rb"(?>(?:[Uu][Rr][Ll][\t\n\f\r ]*+=[\t\n\f\r ]*+)?)"  # 12.2 to 12.7; if incomplete, it belongs to the URL
    rb"([\"']?+)"  # 12.8. skip quotes
)


def refresh(value: bytes) -> list[Span]:
    """Return the URL of a refresh, for example `a.html` in `5; url=a.html`; no span for a bare time or an empty URL."""
    found = _REFRESH.match(value)
    if not found:
        return []
    quote = found[1]
    end = value.find(quote, found.end()) if quote else -1  # 12.10. the closing quote ends the URL
    start, end = _trimmed(value, found.end(), len(value) if end < 0 else end)
    return [(start, end)] if start < end else []


_TASK: Final = pattern(rb"[\t\n\f\r ]*+(?:action|icon|polling)-uri[0-9]?+[\t\n\f\r ]*+=", re.IGNORECASE)
_BETWEEN_SEMICOLONS: Final = re.compile(rb"[^;]++")


def tasks(value: bytes) -> Iterator[Span]:
    """Yield URLs of Internet Explorer's pinned sites, for example `/a`, `/i` in `name=N;action-uri=/a;icon-uri=/i`."""
    for item in _BETWEEN_SEMICOLONS.finditer(value):
        if key := _TASK.match(value, item.start(), item.end()):
            start, end = _trimmed(value, key.end(), item.end())
            if start < end:
                yield start, end


def semicolons(value: bytes) -> Iterator[Span]:
    """Yield the items of an animation's `values`, for example `a` and `b` in `a; b` (SVG 1.1 19.2.7)."""
    for found in _BETWEEN_SEMICOLONS.finditer(value):
        start, end = _trimmed(value, *found.span())
        if start < end:
            yield start, end


def config(value: bytes) -> list[Span]:
    """Return the URL of msapplication-config, for example `/b.xml`; no span for the keyword `none` ("no file")."""
    start, end = _trimmed(value, 0, len(value))
    return [] if value[start:end].lower() == b"none" else [(start, end)]


_IN_WORD = 1  # bytes of a word that may be a path; in quotes, braces and the like it is code
_IN_TAIL = 2  # of a query or fragment behind it
_BEGINS = 4  # first bytes of such a word
_ALNUM = 8
_classes = bytes(
    (byte not in b"\t\n\f\r <>\"'{}\\?#") * _IN_WORD
    | (byte not in b'\t\n\f\r <>"{}\\') * _IN_TAIL
    | (byte > 127 or byte in b"_~%@!$&*,;=+:/-" or bytes((byte,)).isalnum()) * _BEGINS
    | bytes((byte,)).isalnum() * _ALNUM
    for byte in range(256)
)
_CLASSES = _classes  # a C pointer when compiled


def likely(value: bytes) -> list[Span]:
    """Return one span if the value looks like a URL: for attributes that pages also use for other data.

    So do an absolute reference, a path, and one word with a file suffix (`a/b.png?x`); but not "true", "#fff", JSON,
    templates, identifiers, or a URL that is percent-encoded or base64-encoded as a whole.
    """
    start, end = _trimmed(value, 0, len(value))
    return [(start, end)] if is_likely(value, start, end) else []


def is_likely(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a span without surrounding white space looks like a URL."""
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    end_of_word: cython.Py_ssize_t
    while i < end and (classes[p[i]] & _ALNUM or p[i] == 43 or p[i] == 45 or p[i] == 46):
        i += 1
    if i < end and p[i] == 58 and 97 <= p[start] | 32 <= 122:  # a scheme
        return True
    i = start
    while i < end and i < start + 2 and p[i] == 46:
        i += 1
    if i < end and p[i] == 47:  # /path, ./path, ../path, //host
        return True
    if i >= end or not classes[p[start]] & _BEGINS:
        return False
    while i < end and classes[p[i]] & _IN_WORD:
        i += 1
    end_of_word = i
    if i < end and (p[i] == 63 or p[i] == 35):
        while i < end and classes[p[i]] & _IN_TAIL:
            i += 1
    if i < end:
        return False
    i = end_of_word
    while i > start and classes[p[i - 1]] & _ALNUM:
        i -= 1
    if i <= start + 1 or p[i - 1] != 46 or p[i] <= 57 or not 2 <= end_of_word - i <= 5:
        return False
    i = start
    while 97 <= p[i] | 32 <= 122:
        i += 1
    return i == start or p[i] != 37 or p[i + 1] != 51 or p[i + 2] | 32 != 97  # no `https%3A`


# RFC 8288 3 and B.2: links are separated by commas; in a quoted parameter value `<` begins no link
_LINK_VALUE: Final = pattern(rb"[^<\"]*+(?>(?:\"(?>(?:[^\"\\]++|\\.)*)\"?+[^<\"]*+)*)<([^>]*+)>", re.DOTALL)


def link(value: bytes) -> Iterator[Span]:
    """Yield the targets of a Link header field, for example `a` and `b` in `<a>; rel=next; title="x, <y>", <b>`."""
    position = 0
    while found := _LINK_VALUE.match(value, position):
        yield _trimmed(value, found.start(1), found.end(1))
        position = found.end()


def _with_placeholders(grammar: Callable[[bytes], Iterable[Span]]) -> Callable[[bytes], Iterable[Span]]:
    """Return a grammar that keeps the placeholders of templates whole, for example in `{{ a, b }}.png 1x`."""

    def spans(value: bytes) -> Iterable[Span]:
        if may_have_placeholder(value, 0, len(value)):
            from absolve.urls.placeholders import masked  # few values have one

            value = masked(value)
        return grammar(value)

    return spans


def may_have_placeholder(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.bint:
    """Return whether a span has a byte with which placeholders begin."""
    return byte_scan.find(p, 123, i, n) >= 0 or byte_scan.find(p, 91, i, n) >= 0 or byte_scan.find(p, 60, i, n) >= 0


_COMMENTS_AND_URLS: Final = pattern(rb"\\.|[()]|<([^<>]*+)>|[^\\()<]++|<", re.DOTALL)
_BARE: Final = pattern(rb"(?:\A|,)[\t\n\f\r ]*+([A-Za-z][A-Za-z0-9+.-]*+:[^\t\n\f\r <>]*[^\t\n\f\r ,<>])")


def bracketed(value: bytes) -> Iterator[Span]:
    """Yield the URLs of a mail List field (RFC 2369 2), or of Archived-At (RFC 5064 2).

    For example, `<http://h/a> (comment), <http://h/b>` has two. Many programs omit the brackets: then URLs with a
    scheme count.
    """
    if b"<" not in value:
        yield from (found.span(1) for found in _BARE.finditer(value))
        return
    depth = 0
    for found in _COMMENTS_AND_URLS.finditer(value):
        if found[0] == b"(":
            depth += 1
        elif found[0] == b")":
            depth = max(depth - 1, 0)
        elif found[1] is not None and not depth:
            yield _trimmed(value, *found.span(1))


# GFM 6.9: characters that end a URL in text and are not part of it
_PUNCTUATION: Final = b"?!.,:*_~'\";"
_ENTITY: Final = pattern(rb"&[A-Za-z0-9]++;\Z")


def bare_end(text: bytes) -> int:
    """Return the end of a URL in text without trailing punctuation: for example, 10 for `http://e/a).`."""
    end = len(text)
    pairs = ((b"(", b")"), (b"[", b"]"))
    extra = {closing: text.count(closing) - text.count(opening) for opening, closing in pairs}
    while end:
        last = text[end - 1 : end]
        if last in _PUNCTUATION:
            entity = _ENTITY.search(text[max(end - 40, 0) : end]) if last == b";" else None
            end -= len(entity[0]) if entity else 1
        elif extra.get(last, 0) > 0:
            extra[last] -= 1
            end -= 1
        else:
            break
    return end


# RDFa Core 7.4.3: `[ex:a]` and `_:a` are CURIEs. `ex:a` is one, too, if its prefix is declared somewhere. So a URL with
# a scheme counts only if it has an authority, or is mailto: or tel:, which are no prefixes.
_CURIE: Final = pattern(rb"_:|\[|[A-Za-z][A-Za-z0-9+.-]*+:(?!//)(?<!mailto:)(?<!tel:)", re.IGNORECASE)
_IRI: Final = pattern(rb"[^\x00-\x20<>{}|\\^`]*+\Z")


def iri(value: bytes) -> list[Span]:
    """Return the URL in RDFa's `about` or `resource`: for example, `http://h/a` or `/a`, but not `[ex:a]` or `_:a`."""
    start, end = _trimmed(value, 0, len(value))
    text = value[start:end]
    return [(start, end)] if _IRI.match(text) and not _CURIE.match(text) else []


# RFC 9651 3.3.3: a string that is a member of a list or the value of a key. A string with escapes is no URL.
_STRING: Final = pattern(
    rb"[\t\n\r ]*+(?>(?:[a-z*][a-z0-9_.*-]*+=)?)\"([^\"\\]*+)\""
    rb"(?>(?:[^,\"]++|\"(?>(?:[^\"\\]++|\\.)*)\")*)(?:,|\Z)",
    re.DOTALL,
)


def strings(value: bytes) -> Iterator[Span]:
    """Yield the strings of a structured field, for example `/r` in Reporting-Endpoints: `default="/r"`."""
    position = 0
    while found := _STRING.match(value, position):
        if found[1]:
            yield _trimmed(value, *found.span(1))
        position = found.end()


_MEMBER: Final = pattern(
    rb"\"(?:(url)|(?>(?:[^\"\\]++|\\.)*))\"(?(1)[\t\n\r ]*+:[\t\n\r ]*+\"([^\"\\]*+)\")", re.DOTALL
)


def endpoints(value: bytes) -> Iterator[Span]:
    """Yield the URLs of Report-To, for example `/r` in `{"endpoints": [{"url": "/r"}]}`, except those with escapes."""
    return (found.span(2) for found in _MEMBER.finditer(value) if found[2])


_REPORT: Final = pattern(rb"(?:\A|[;,])[\t\n\f\r ]*+report-uri[\t\n\f\r ]++([^;,]*+)", re.IGNORECASE)


def reports(value: bytes) -> Iterator[Span]:
    """Yield the URLs of report-uri in policies (CSP 3 6.5.1), for example `/r` in `img-src a; report-uri /r`."""
    for found in _REPORT.finditer(value):
        yield from (word.span() for word in _WORD.finditer(value, *found.span(1)))


# ECMA-426, MatchSourceMapURL: white space as in JavaScript, and a comment with a URL has no quote.
SCRIPT_SPACE: Final = (
    rb"(?:[\t-\r ]|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf)"
)
_SOURCE_MAP: Final = pattern(
    rb"[#@](?>%b*)sourceMappingURL=((?>(?:[!#-&(-_a-~]++|(?!%b)[\x80-\xff])+))(?>%b*)" % ((SCRIPT_SPACE,) * 3)
)


def source_map(value: bytes) -> list[Span]:
    """Return the URL of a source map in a comment's text, for example `a.js.map` in `# sourceMappingURL=a.js.map`."""
    found = _SOURCE_MAP.fullmatch(value) if len(value) <= SCRIPT_END else None
    return [found.span(1)] if found is not None else []


_FIELD: Final = pattern(rb"[\t\n\r ]*HYPERLINK[\t\n\r ]+(?:\"([^\"\\]+)\"|([^\"\\\t\n\r ]+))", re.IGNORECASE)
# ISO 29500-1 18.17.2: a text, the quoted name of a sheet, of a column in brackets; or a call with a text as argument
_FORMULA: Final = pattern(
    rb"\"(?>(?:[^\"]++|\"\")*)(?:\"|\Z)|'(?>(?:[^']++|'')*)(?:'|\Z)|\[(?>(?:[^'\[\]]++|'.)*)"
    rb"|(?<![\w.\x80-\xff])HYPERLINK\([\t\n\r ]*+\"([^\"]++)\"[\t\n\r ]*+[,)]",
    re.IGNORECASE | re.DOTALL,
)


def field(value: bytes) -> list[Span]:
    """Return the URL of a Word field (ISO 29500-1 17.16.5.25), for example in `HYPERLINK "a.html"`; none if escaped."""
    found = _FIELD.match(value)
    return [found.span(found.lastindex or 0)] if found is not None else []


def formula(value: bytes) -> Iterator[Span]:
    """Yield the URLs that are whole texts in calls of HYPERLINK in a formula (ISO 29500-1 18.17.7.151).

    For example, `IF(A1,HYPERLINK("a.html"),"HYPERLINK(""b"")")` has one, `a.html`: the other call is inside a text.
    """
    return (found.span(1) for found in _FORMULA.finditer(value) if found[1])


GRAMMARS: Final[dict[str, Callable[[bytes], Iterable[Span]]]] = {
    "url": url,
    "srcset": _with_placeholders(srcset),
    "spaces": _with_placeholders(spaces),
    "commas": _with_placeholders(commas),
    "refresh": _with_placeholders(refresh),
    "tasks": _with_placeholders(tasks),
    "semicolons": _with_placeholders(semicolons),
    "config": config,
    "likely": likely,
    "link": link,
    "bracketed": bracketed,
    "destination": url,
    "uri": url,
    "bare": url,
    "line": url,
    "iri": iri,
    "strings": strings,
    "endpoints": endpoints,
    "reports": reports,
    "field": field,
    "formula": formula,
}


def _percent(bytes_to_escape: re.Match[bytes]) -> bytes:
    return b"%" + bytes_to_escape[0].hex("%").upper().encode()


_Escape = Callable[[bytes, bytes], bytes]


def _escaping(unsafe: bytes) -> _Escape:
    """Return a function that percent-escapes the matches of a pattern."""
    found = pattern(unsafe)
    return lambda target, _before: replaced(found, _percent, target)


def _unchanged(target: bytes, _before: bytes) -> bytes:
    return target


_in_spaces = _escaping(rb"[\t\n\f\r ]++")
_in_angles = _escaping(rb"[\t\n\f\r <>]++")
_in_line = _escaping(rb"[\r\n]++")
_in_text = _escaping(rb"[\x00-\x20<>\x7f]++")
_all_of_text = _escaping(rb".++")
_in_string = _escaping(rb"[\x00-\x20\"\\]")
_before_angle = _escaping(rb"[\t\n\f\r >]++")


def _in_srcset(target: bytes, before: bytes) -> bytes:
    """Escape commas at the ends, which would separate candidates: for example, `a,b,` becomes `a,b%2C`."""
    inner = target.lstrip(b",")
    leading = len(target) - len(inner)
    trailing = len(inner) - len(inner.rstrip(b","))
    middle = _in_spaces(inner[: len(inner) - trailing], before)
    return b"%2C" * leading + middle + b"%2C" * trailing


def _in_refresh(target: bytes, before: bytes) -> bytes:
    """Escape the quote that would end the URL: the one that precedes it, or without one, its own first character."""
    quote = before.rstrip(WHITE_SPACE)[-1:]
    if quote in (b'"', b"'"):
        return target.replace(quote, b"%%%02X" % quote[0])
    return b"%%%02X" % target[0] + target[1:] if target[:1] in (b'"', b"'") else target


def _in_destination(target: bytes, before: bytes) -> bytes:
    """Escape white space in a link destination of Markdown; between angle brackets, line ends only."""
    return (_in_line if before.endswith(b"<") else _in_spaces)(target, before)


def _bare(target: bytes, before: bytes) -> bytes:
    """Escape characters that end a URL in angle brackets; without brackets, also its last punctuation (GFM 6.9)."""
    if before.endswith(b"<"):
        return _in_angles(target, before)
    text = _in_text(target, before)
    end = bare_end(text)
    return text[:end] + _all_of_text(text[end:], before)


# Percent-escape a target so that the grammar reads it as one reference. (target in UTF-8, bytes of the value before the
# span that it replaces) -> bytes to write. The target is an absolute URL without surrounding white space; most targets
# are returned unchanged.
ESCAPES: Final[dict[str, _Escape]] = {
    "url": _unchanged,
    "srcset": _in_srcset,
    "spaces": _in_spaces,
    "commas": _escaping(rb"[\t\n\f\r ,]++"),
    "refresh": _in_refresh,
    "tasks": _escaping(rb";++"),
    "semicolons": _escaping(rb";++"),
    "config": _unchanged,
    "likely": _unchanged,
    "link": _before_angle,
    "bracketed": _in_angles,
    "destination": _in_destination,
    "uri": _in_spaces,
    "bare": _bare,
    "line": _before_angle,
    "iri": _escaping(rb"[\x00-\x20<>\"{}|\\^`]"),
    "strings": _in_string,
    "endpoints": _in_string,
    "reports": _escaping(rb"[\x00-\x20,;]"),
    "field": _in_string,
    "formula": _in_string,
}
ABSOLUTE: Final = frozenset({"bare", "line"})  # syntaxes in which only an absolute URL is a link


def is_read(syntax: str, target: str) -> bool:
    """Return whether a URL is still a link if it is written into a value of this syntax.

    For example, `is_read("bare", "../x")` is false, because only absolute URLs are links in text.
    """
    if syntax == "iri":
        return _CURIE.match(target.encode("utf-8", "surrogatepass")) is None
    return syntax not in ABSOLUTE or has_scheme(target)
