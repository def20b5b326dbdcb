"""The new bytes of one document of a mirror: its links by the policy, and a few other edits.

In: an entity, its policy, and the charset that its container stated. Out: bytes, and a `Note` for each other edit. A
charset that only the HTTP header stated is declared in the document, because files on a disk have no header.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import chain
from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit
from absolve.document.reporting import Places
from absolve.document.walk import inners
from absolve.encodings.charsets import UTF_8, byte_order_mark, declared_in_html, lookup
from absolve.formats import registry
from absolve.formats.html import security_policy
from absolve.formats.html.start_tags import attributes, every_attribute, policy_metas, start_tags
from absolve.mirror import browsers
from absolve.mirror.browsers import may_need_server, needs_server
from absolve.mirror.policy import UNSEVERED, Note
from absolve.rewriting import rewriter
from absolve.rewriting.edits import lower, splice
from absolve.urls import source_lists
from absolve.urls.base import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.document.entity import Entity
    from absolve.encodings.charsets import Charset
    from absolve.formats.html.start_tags import Tag
    from absolve.mirror.policy import MirrorPolicy
    from absolve.urls.source_lists import Directives

_CORS: Final = (b"integrity", b"crossorigin")
_LOOKED_AT: Final = 1024  # bytes in which a declared charset is found (HTML Standard 13.2.3.2)


def rewritten(entity: Entity, policy: MirrorPolicy, label: str | None) -> bytes:
    """Return the new bytes of a document; the same object if nothing changes.

    `label` is the charset that the container stated for it. Raise DocumentError as `rewriter.rewrite` does.
    """
    own: dict[int, list[Edit]] = {}
    in_force = [(-1, source_lists.directives(text)) for text in security_policy.of_header(policy.fields)]
    _note_security_policies(own, entity, policy, in_force)
    found = rewriter.edits(entity, policy)
    for inside, start, name in policy.seen.scripts.values():
        new = Edit(start, start, f' charset="{name}"'.encode(inside.charset.codec))
        own.setdefault(id(inside), []).append(new)
        text = f"of this script: {name}, which only its header stated"
        policy.seen.notes.append(Note(inside, start, "charset", text))
    for inside, start, end in policy.seen.local.values():
        _uncross(own, inside, start, end, policy)
    _scan(entity, policy)
    if policy.severs:
        _note_requests(entity, policy)
    first: list[Edit] = []  # edits at an offset with several
    declared = declaration(entity.data, entity.media_type, label)
    if declared is not None:
        text = f"declared as {declared[1]}, which only the header stated"
        policy.seen.notes.append(Note(entity, declared[0].start, "charset", text))
        first.append(declared[0])
    if policy.fields and entity.media_type == registry.HTML:
        first += _guards(entity, policy, is_declared=declared is not None and declared[0].new.startswith(b"<meta"))
    return splice(entity.data, _disjoint([*first, *_lowered(entity, own), *found]))


def _guards(entity: Entity, policy: MirrorPolicy, *, is_declared: bool) -> list[Edit]:
    """Return the edit that puts the policies of a page's header into its head, in a list."""
    texts = security_policy.of_header(policy.fields)
    edit = guard(entity.data, texts, entity.charset, policy.holds, is_declared=is_declared)
    if edit is None:
        return []
    for text in texts:
        policy.seen.notes.append(Note(entity, edit.start, "csp", f"put into the page, from its header: {text[:200]}"))
    return [edit]


def guard(
    data: bytes, policies: list[str], charset: Charset, holds: Callable[[str], bool], *, is_declared: bool
) -> Edit | None:
    """Return the edit that puts the policies of a header into a page; None without any.

    It is `<meta http-equiv="Content-Security-Policy" content="...">`, for example. It must not push a charset that the
    page itself declares out of the bytes that browsers search, unless `is_declared` again.
    """
    texts = [security_policy.for_copy(text, holds) for one in policies for text in security_policy.as_meta(one)]
    if not texts:
        return None
    start = head_of(data, charset.name)
    return _metas(data, texts, charset, start, is_declared=is_declared)


def _metas(data: bytes, policies: Iterable[str], charset: Charset, start: int, *, is_declared: bool) -> Edit:
    own = declared_in_html(data) if not is_declared and byte_order_mark(data) is None else None
    metas = f'<meta charset="{own.name}">' if own is not None and b"charset" in data[start:_LOOKED_AT].lower() else ""
    for policy in policies:
        quoted = policy.replace("&", "&amp;").replace('"', "&quot;")
        metas += f'<meta http-equiv="Content-Security-Policy" content="{quoted}">'
    return Edit(start, start, metas.encode(charset.codec, "xmlcharrefreplace"))


def _disjoint(found: list[Edit]) -> list[Edit]:
    """Return edits in order; if two overlap only the first one, at the outer place."""
    found.sort(key=lambda edit: (edit.start, edit.end))
    end = 0
    kept = []
    for edit in found:
        if edit.start >= end:
            kept.append(edit)
            end = edit.end
    return kept


def _uncross(own: dict[int, list[Edit]], entity: Entity, start: int, end: int, policy: MirrorPolicy) -> None:
    """Rename `integrity` and `crossorigin` in a tag: a browser refuses both for a file."""
    data = entity.own_data
    found = list(every_attribute(data, start, end))
    names = {name for name, _ in found}
    for name, attribute in found:
        if name not in _CORS:
            continue
        prefix = b"data-"
        while prefix + name in names:  # XML has no attribute twice
            prefix += b"x-"
        own.setdefault(id(entity), []).append(Edit(attribute.start, attribute.start, prefix))
        shown = data[attribute.start : attribute.end].decode("utf-8", "replace")[:200]
        policy.seen.notes.append(Note(entity, attribute.start, name.decode(), f"renamed to {prefix.decode()}{shown}"))


def _note_security_policies(
    own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy, in_force: list[tuple[int, Directives]]
) -> None:
    """Note which Content-Security-Policies apply in a page and in those inside it, each from which offset on.

    -1 is the offset of one that applies from the start. One that forbids local copies gets an edit: it is replaced, in
    its place, by one with the sources that the copies need. With too many, a page is taken to allow nothing.
    """
    in_force = [*in_force, *_policies(own, entity, policy)]
    if len(in_force) > security_policy.MOST_POLICIES:
        in_force = [(-1, security_policy.NOTHING)]
    if in_force:
        policy.limits[id(entity)] = in_force
    for inner in inners(entity):
        _note_security_policies(own, inner.entity, policy, [(-1, found) for _, found in in_force])


def _policies(own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy) -> Iterator[tuple[int, Directives]]:
    """Yield the policies in the head of a page, with the offset from which each one is in force."""
    data, charset = entity.data if entity.media_type == registry.HTML else b"", entity.charset
    if is_opaque := not charset.transparent:
        data = data.decode(charset.codec, "replace").encode()
    for tag, equiv, content in policy_metas(data, charset):
        text = content.text(UTF_8 if is_opaque else charset)
        yield -1 if is_opaque else tag.end, source_lists.directives(text)
        new = security_policy.for_copy(text, policy.holds)
        if new != text and not is_opaque:
            with_sources = _metas(data, [new], charset, tag.start, is_declared=False)
            own.setdefault(id(entity), []).extend((with_sources, Edit(equiv.start, equiv.start, b"data-was-")))
            words = f"replaced by one that allows the local copies: {new[:200]}"
            policy.seen.notes.append(Note(entity, content.start, "csp", words))


def for_one_file(data: bytes, charset: Charset) -> bytes:
    """Return a page whose policies also allow its `data:` URLs."""
    edits = []
    for tag, equiv, content in policy_metas(data, charset) if charset.transparent else ():
        text = content.text(charset)
        if (new := security_policy.for_one_file(text)) != text:
            edits.append(_metas(data, [new], charset, tag.start, is_declared=False))
            edits.append(Edit(equiv.start, equiv.start, b"data-was-"))
    return splice(data, edits)


def _scan(entity: Entity, policy: MirrorPolicy) -> None:
    """Scan the scripts of a page, and of the pages inside it, where a fast test finds that this may matter."""
    if entity.media_type == registry.HTML and entity.charset.transparent:
        data = entity.data
        for tag in start_tags(data, b"script") if may_need_server(data) else ():
            _read_script(entity, policy, tag)
    for inner in inners(entity):
        _scan(inner.entity, policy)


def _read_script(entity: Entity, policy: MirrorPolicy, tag: Tag) -> None:
    """Note a script in the page that needs a server."""
    places = needs_server(entity.data, tag.text_start, tag.text_end)
    if not places:
        return
    if _runs(entity.data, tag, entity.charset):
        policy.seen.notes += (Note(entity, at, "needs-server", why) for at, why in places)


def _lowered(entity: Entity, own: dict[int, list[Edit]]) -> list[Edit]:
    """Return the edits of an entity and of the entities inside it, by offsets in its own bytes."""
    if not own:
        return []
    found = list(own.get(id(entity), ()))
    for inner in inners(entity):
        inside = _lowered(inner.entity, own)
        if inside and inner.offsets is not None:
            inside.sort(key=lambda edit: (edit.start, edit.end))
            found += lower(inside, entity.data, inner.part, inner.offsets)
    return found


def placed(entity: Entity, notes: Iterable[Note]) -> list[tuple[int | None, int | None, str, str]]:
    """Return line, column, code and text of each note in a document."""
    places = Places(entity)
    return [(*places.line_column(note.entity, note.position), note.code, note.text) for note in notes]


# --- requests that no link shows --------------------------------------------------------------------------------------

_SCRIPT: Final = "a script, whose requests are no links"
_HANDLER: Final = re.compile(rb"[\s\"'/]on[a-z]+\s*=")
_IMPORT: Final = re.compile(rb"\b(?:import|from)\s*[\"']((?:https?:|//)[^\"'\s]{1,200})")
_IN_XML: Final = (
    (re.compile(rb"<(?:[^\s<>/]*:)?script[\s/>]|[\s\"']on[a-z]+\s*="), _SCRIPT),
    (re.compile(rb"<!attlist"), "attributes that the document type declaration gives, which are not looked at"),
    (re.compile(rb"<\?xml-stylesheet[^<>]*?type\s*=\s*[\"'][^\"'<>]*(?:xsl|xml)"), "XSLT, whose result is not known"),
)
# A string from elsewhere as a URL (CSS Images 4, CSS Values 5): it is no link where it is written.
_DECLARATION: Final = re.compile(rb"[^;{}]+")
_FILLED: Final = re.compile(rb"(?:image-set|\bsrc)\(")
_FILLER: Final = re.compile(rb"(?:\bvar|\battr|\benv|\bif|\binherit|(?<![\w-])--[\w-]+)\(")
_SUBSTITUTES: Final = "a URL in CSS that comes from a variable, an attribute or a function"
_CSS_ESCAPE: Final = re.compile(rb"\\0{0,4}([2-7][0-9a-f])[\t\n\f\r ]?|\\([g-z(-])")
_LOOKED_UP: Final = "x-dns-prefetch-control: the hosts of links may be looked up"
# Findings about what stays, because it is not read or cannot be changed.
_UNREAD: Final = frozenset("ambiguous entity not-well-formed pieces signed too-deep too-large".split()) | {TOO_LONG}


def _note_requests(entity: Entity, policy: MirrorPolicy) -> None:
    """Note where a browser may ask the web although no link shows it: scripts, and what is not read; once a reason."""
    known: set[str] = set()
    found = ((finding.position, finding.text) for finding in entity.findings if finding.code in _UNREAD)
    for inside, position, why in chain(((entity, *one) for one in found), _requests(entity)):
        if why not in known:
            known.add(why)
            policy.seen.notes.append(Note(inside, position, UNSEVERED, why))


def _requests(entity: Entity) -> Iterator[tuple[Entity, int, str]]:
    """Yield entity, byte offset and reason for each possible request, in an entity and all inside it."""
    data = entity.data
    lowered = data.lower()
    places: Iterator[tuple[int, str]] = iter(())
    if entity.media_type == registry.XML:
        places = ((found.start(), why) for known, why in _IN_XML if (found := known.search(lowered)))
    elif entity.media_type == registry.HTML and entity.charset.transparent:
        places = _in_page(data, lowered, entity.charset)
    yield from ((entity, *place) for place in places)
    if b"image-set" in lowered or b"src(" in lowered or b"\\" in lowered:
        text = unescape(lowered.decode("latin-1")).encode("latin-1", "replace")
        plain = _CSS_ESCAPE.sub(lambda one: bytes.fromhex(one[1].decode()) if one[1] else one[2], text)
        place = _substituted(lowered)
        if place is not None or _substituted(plain) is not None:
            yield entity, place or 0, _SUBSTITUTES
    for inner in inners(entity):
        yield from _requests(inner.entity)


def _substituted(css: bytes) -> int | None:
    """Return the offset of the first image-set() or src() in whose declaration another function may write the URL."""
    for declaration in _DECLARATION.finditer(css):
        filled = _FILLED.search(css, *declaration.span())
        if filled is not None and _FILLER.search(css, filled.end(), declaration.end()) is not None:
            return filled.start()
    return None


def _in_page(data: bytes, lowered: bytes, charset: Charset) -> Iterator[tuple[int, str]]:
    """Yield the scripts in a page that run, the modules that they import, and event handlers."""
    if not (b"<script" in lowered or b"dns-prefetch" in lowered or _HANDLER.search(lowered)):
        return
    for tag in start_tags(data):
        if tag.name == b"script" and _runs(data, tag, charset):
            yield from ((one.start(), f"a script that imports {one[1].decode('utf-8', 'replace')}")
                        for one in _IMPORT.finditer(data, tag.text_start, tag.text_end))
            yield tag.start, _SCRIPT
        elif _HANDLER.search(lowered, tag.start, tag.end):
            yield tag.start, _SCRIPT
        elif tag.name == b"meta" and b"x-dns-prefetch-control" in lowered[tag.start : tag.end]:
            yield tag.start, _LOOKED_UP


def _runs(data: bytes, tag: Tag, charset: Charset) -> bool:
    """Return whether a script element has a script, not data."""
    kind = attributes(data, tag.start, tag.end).get(b"type")
    return kind is None or kind.text(charset).lower() in {"", "module", *browsers.JAVASCRIPT}


# --- the charset that a header stated ---------------------------------------------------------------------------------

_MARKS: Final = {"utf-8": b"\xef\xbb\xbf", "utf-16le": b"\xff\xfe", "utf-16be": b"\xfe\xff"}
_PRESCAN: Final = 1024 - len(b'<meta charset="utf-8">')  # HTML Standard 13.2.3.2: bytes in which a meta is found
# Text before the head's content (HTML Standard 13.2.6.4.1 to 13.2.6.4.4), with the ends of comments and start tags
# (13.2.5): an insertion after it precedes the first script.
_BLANK: Final = rb"\t\n\f\r "
_VALUE: Final = rb"[%b]*+=[%b]*+(?:\"[^\"]*+\"|'[^']*+'|[^%b>\"'][^%b>]*+|(?=>))" % ((_BLANK,) * 4)
_TAG_END: Final = rb"(?=[%b/>])(?>(?:[%b/]*+[^%b/>][^%b/>=]*+(?>(?:%b)?))*)[%b/]*+>" % (*(_BLANK,) * 4, _VALUE, _BLANK)
_MISC: Final = rb"(?>(?:[%b]++|<!--(?:-?>|(?>(?:(?!--!?>).)*)--!?>)|<(?:\?|!(?!--|doctype)|/[^a-z>])[^>]*+>)*)" % _BLANK
_BEFORE_HEAD: Final = re.compile(
    rb"(?is:%b(?>(?:<!doctype[^>]*+>)?)%b(?>(?:<html%b)?)%b(?>(?:<head%b)?))"
    % (_MISC, _MISC, _TAG_END, _MISC, _TAG_END)
)
_FAR: Final = 1 << 18  # bytes of UTF-16 that are looked at
_XML: Final = re.compile(rb"<\?xml[\t\n\r ]+version[\t\n\r ]*=[\t\n\r ]*(?:\"[^\"]*\"|'[^']*')")
_ENCODING: Final = re.compile(rb"([\t\n\r ]+encoding[\t\n\r ]*=[\t\n\r ]*)(?:\"([^\"]*)\"|'([^']*)')")


def declaration(data: bytes, media_type: str, label: str | None) -> tuple[Edit, str] | None:
    r"""Return the edit that declares the charset of a label, and its name; None if no edit is needed.

    >>> declaration(b"<p>\xe9", "text/html", "latin1")
    (Edit(0, 0, b'<meta charset="windows-1252">'), 'windows-1252')
    """
    charset = lookup(label) if label else None
    if charset is None or byte_order_mark(data) is not None:
        return None
    kind = registry.kind_of(media_type)
    if kind == registry.CSS or media_type in _TEXTS:
        return _in_text(data, charset, is_sheet=kind == registry.CSS)
    if kind == registry.HTML:
        own = declared_in_html(data)
        if own is not None and own.name == charset.name:
            return None
        position = head_of(data, charset.name)
        if charset.name in _MARKS and (charset.name != "utf-8" or position > _PRESCAN):
            return Edit(0, 0, _MARKS[charset.name]), charset.name
        return Edit(position, position, f'<meta charset="{charset.name}">'.encode()), charset.name
    return _in_xml(data, charset.name) if kind == registry.XML else None


# Text for people; programs read other text, and would take the mark for content.
_TEXTS: Final = frozenset({"text/plain", "text/csv", "text/tab-separated-values", "text/markdown"})
_AT_CHARSET: Final = re.compile(rb'@charset "([^"]{1,100})";')  # CSS Syntax 3.2: no other spelling counts


def _in_text(data: bytes, charset: Charset, *, is_sheet: bool) -> tuple[Edit, str] | None:
    """Return the edit for a style sheet (`@charset`) or text (a mark); None for ASCII, and if none is possible."""
    name = charset.name
    if data.isascii() and charset.transparent:
        return None
    if name in _MARKS and (not is_sheet or name != "utf-8"):
        return Edit(0, 0, _MARKS[name]), name
    own = _AT_CHARSET.match(data) if is_sheet else None
    known = lookup(own[1].decode("latin-1")) if own is not None else None
    if not is_sheet or (known is not None and known.name == name):
        return None
    return (Edit(0, 0, f'@charset "{name}";'.encode()) if own is None else Edit(*own.span(1), name.encode())), name


def undeclarable(data: bytes, media_type: str, label: str | None) -> str | None:
    """Return the charset of a text that cannot declare it; None for a charset that has a mark, and for ASCII."""
    charset = lookup(label) if label else None
    if charset is None or media_type not in _TEXTS or byte_order_mark(data) is not None or charset.name in _MARKS:
        return None
    return charset.name if not (data.isascii() and charset.transparent) else None


def head_of(data: bytes, charset: str = "") -> int:
    """Return the offset at which the head's content begins: for example, 12 in `<html><head><title>`."""
    mark = byte_order_mark(data)
    start = mark[1] if mark is not None else 0
    name = mark[0].name if mark is not None else charset
    text = data[start:] if name != "iso-2022-jp" else data.partition(b"\x1b")[0]  # behind it `>` may be a letter
    if is_wide := name.startswith("utf-16"):
        first = name == "utf-16be"
        pairs = zip(text[first:_FAR:2], text[not first : _FAR : 2], strict=False)
        text = bytes(0x80 if high else low for low, high in pairs)
    found = _BEFORE_HEAD.match(text)
    return start + (found.end() if found is not None else 0) * (1 + is_wide)


def _in_xml(data: bytes, name: str) -> tuple[Edit, str] | None:
    if name in {"utf-16le", "utf-16be"}:
        return Edit(0, 0, _MARKS[name]), name
    found = _XML.match(data)
    if found is None:
        own = None
        edit = Edit(0, 0, f'<?xml version="1.0" encoding="{name}"?>'.encode())
    else:
        encoding = _ENCODING.match(data, found.end())
        if encoding is None:
            own = None
            edit = Edit(found.end(), found.end(), f' encoding="{name}"'.encode())
        else:
            own = encoding[2] if encoding[2] is not None else encoding[3]
            start = encoding.start(2) if encoding[2] is not None else encoding.start(3)
            edit = Edit(start, start + len(own), name.encode())
    declared = lookup(own.decode("latin-1")) if own is not None else lookup("utf-8")
    if declared is not None and declared.name == name:
        return None  # UTF-8 is what XML is without a declaration
    return edit, name
