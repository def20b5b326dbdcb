"""The new bytes of one document of a mirror: its links by the policy, and the few edits that are no links.

In: an entity, its policy, and the charset that its container stated. Out: bytes, and a `Note` for each edit that is no
link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit
from absolve.document.walk import inners
from absolve.encodings.charsets import UTF_8, byte_order_mark, declared_in_html
from absolve.formats import registry
from absolve.mirror import charset_edit, scripts, security_policy
from absolve.mirror.policy import Note
from absolve.mirror.tags import attributes, every_attribute, start_tags
from absolve.rewriting import rewriter
from absolve.rewriting.edits import lower, splice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.encodings.charsets import Charset
    from absolve.mirror.policy import MirrorPolicy
    from absolve.mirror.security_policy import Directives
    from absolve.mirror.tags import Tag

_CORS: Final = (b"integrity", b"crossorigin")
_SCRIPT: Final = frozenset({b"script"})
_LOOKED_AT: Final = 1024  # bytes in which a declared charset is found (HTML Standard 13.2.3.2)
# Start tags that do not end the head, where alone a policy counts (HTML Standard 4.2.5.3).
_IN_HEAD: Final = frozenset(
    b"html head base basefont bgsound link meta title noscript noframes style script template".split()
)


def relinked(entity: Entity, policy: Callable[[Resolved], str | None], tally: rewriter.Tally | None = None) -> bytes:
    """Return the bytes of a document in which nothing but links changes; raise as `rewritten` does."""
    return rewriter.rewrite(entity, policy, tally=tally)


def rewritten(entity: Entity, policy: MirrorPolicy, label: str | None, *, for_server: bool = False) -> bytes:
    """Return the new bytes of a document; the same object if nothing changes.

    `label` is the charset that the container stated for it. Raise DocumentError as `rewriter.rewrite` does.
    """
    own: dict[int, list[Edit]] = {}
    in_force = [(-1, security_policy.directives(text)) for text in security_policy.of_header(policy.fields)]
    _limit(own, entity, policy, in_force)
    found = rewriter.edits(entity, policy)
    for inside, start, end, path in policy.seen.local.values():
        _uncross(own, inside, start, end, policy, path=path if for_server else None)
    _scan(entity, policy)
    first: list[Edit] = []  # of several at one offset
    declared = charset_edit.declaration(entity.data, entity.media_type, label)
    if declared is not None:
        text = f"declared as {declared[1]}, which only the header stated"
        policy.seen.notes.append(Note(entity, declared[0].start, "charset", text))
        first.append(declared[0])
    if policy.fields and entity.media_type == registry.HTML:
        first += _guards(entity, policy, is_declared=declared is not None and declared[0].new.startswith(b"<meta"))
    return splice(entity.data, _disjoint([*first, *_lowered(entity, own), *found]))


def _guards(entity: Entity, policy: MirrorPolicy, *, is_declared: bool) -> list[Edit]:
    """Return the edit that puts the policies of a page's header into its head."""
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

    A charset that the page declares itself, unless `is_declared` again, stays among the bytes that are looked at.
    """
    texts = [security_policy.for_copy(text, holds) for one in policies for text in security_policy.as_meta(one)]
    if not texts:
        return None
    start = charset_edit.head_of(data, charset.name)
    return _metas(data, texts, charset, start, is_declared=is_declared)


def _metas(data: bytes, policies: Iterable[str], charset: Charset, start: int, *, is_declared: bool) -> Edit:
    own = declared_in_html(data) if not is_declared and byte_order_mark(data) is None else None
    metas = f'<meta charset="{own.name}">' if own is not None and b"charset" in data[start:_LOOKED_AT].lower() else ""
    for policy in policies:
        quoted = policy.replace("&", "&amp;").replace('"', "&quot;")
        metas += f'<meta http-equiv="Content-Security-Policy" content="{quoted}">'
    return Edit(start, start, metas.encode(charset.codec, "xmlcharrefreplace"))


def _disjoint(found: list[Edit]) -> list[Edit]:
    """Return edits in order; of two that overlap the first one, which is that of the outer place."""
    found.sort(key=lambda edit: (edit.start, edit.end))
    end = 0
    kept = []
    for edit in found:
        if edit.start >= end:
            kept.append(edit)
            end = edit.end
    return kept


def _uncross(
    own: dict[int, list[Edit]], entity: Entity, start: int, end: int, policy: MirrorPolicy, *, path: str | None
) -> None:
    """Rename `integrity` and `crossorigin` in a tag: a browser refuses both for a file.

    For a server (`path` is set) only `integrity`, and only where the bytes of the target may change.
    """
    data = entity.own_data
    found = list(every_attribute(data, start, end))
    names = {name for name, _ in found}
    for name, attribute in found:
        if name not in _CORS or (path is not None and (name != b"integrity" or not _may_change(path))):
            continue
        prefix = b"data-"
        while prefix + name in names:  # XML has no attribute twice
            prefix += b"x-"
        own.setdefault(id(entity), []).append(Edit(attribute.start, attribute.start, prefix))
        shown = data[attribute.start : attribute.end].decode("utf-8", "replace")[:200]
        policy.seen.notes.append(Note(entity, attribute.start, name.decode(), f"renamed to {prefix.decode()}{shown}"))


def _may_change(path: str) -> bool:
    return path.endswith((".css", ".html", ".htm", ".svg", ".xml", ".xhtml"))


def _limit(
    own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy, in_force: list[tuple[int, Directives]]
) -> None:
    """Note the policies in force in a page and those inside it.

    One that forbids local copies is replaced, in its place, by one with the sources that they need.
    """
    in_force = [*in_force, *_policies(own, entity, policy)]
    if in_force:
        policy.limits[id(entity)] = in_force
    for inner in inners(entity):
        _limit(own, inner.entity, policy, [(-1, found) for _, found in in_force])


def _policies(own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy) -> Iterator[tuple[int, Directives]]:
    """Yield the policies in the head of a page, with the offset from which each one is in force."""
    data, charset = entity.data if entity.media_type == registry.HTML else b"", entity.charset
    if is_opaque := not charset.transparent:
        data = data.decode(charset.codec, "replace").encode()
    for tag in start_tags(data) if security_policy.may_have_one(data) else ():
        if tag.name not in _IN_HEAD:
            return
        found = attributes(data, tag.start, tag.end) if tag.name == b"meta" else {}
        equiv, content = found.get(b"http-equiv"), found.get(b"content")
        if equiv is None or content is None or equiv.text(charset).lower() != "content-security-policy":
            continue
        text = content.text(UTF_8 if is_opaque else charset)
        yield -1 if is_opaque else tag.end, security_policy.directives(text)
        new = security_policy.for_copy(text, policy.holds)
        if new != text and not is_opaque:
            with_sources = _metas(data, [new], charset, tag.start, is_declared=False)
            own.setdefault(id(entity), []).extend((with_sources, Edit(equiv.start, equiv.start, b"data-was-")))
            words = f"replaced by one that allows the local copies: {new[:200]}"
            policy.seen.notes.append(Note(entity, content.start, "csp", words))


def _scan(entity: Entity, policy: MirrorPolicy) -> None:
    """Scan the scripts of a page, and of the pages inside it, where a fast test finds that this may matter."""
    if entity.media_type == registry.HTML and entity.charset.transparent:
        data = entity.data
        for tag in start_tags(data, _SCRIPT) if scripts.may_need_server(data) else ():
            _read_script(entity, policy, tag)
    for inner in inners(entity):
        _scan(inner.entity, policy)


def _read_script(entity: Entity, policy: MirrorPolicy, tag: Tag) -> None:
    """Note a script in the page that needs a server."""
    place = scripts.needs_server(entity.data, tag.text_start, tag.text_end)
    if place is None:
        return
    kind = attributes(entity.data, tag.start, tag.end).get(b"type")
    if kind is None or kind.text(entity.charset).lower() in scripts.JAVASCRIPT:
        policy.seen.notes.append(Note(entity, place[0], "needs-server", place[1]))


def _lowered(entity: Entity, own: dict[int, list[Edit]]) -> list[Edit]:
    """Return the edits of an entity and of those inside it, by offsets in its own bytes."""
    if not own:
        return []
    found = list(own.get(id(entity), ()))
    for inner in inners(entity):
        inside = _lowered(inner.entity, own)
        if inside and inner.offsets is not None:
            inside.sort(key=lambda edit: (edit.start, edit.end))
            found += lower(inside, entity.data, inner.part, inner.offsets)
    return found


def placed(notes: Iterable[Note]) -> list[tuple[int, int, str, str]]:
    """Return line, column, code and text of each note."""
    return [(*note.entity.line_column(note.position), note.code, note.text) for note in notes]
