"""The new bytes of one document of a mirror: its links by the policy, and the few edits that are no links.

In: an entity, its policy, and the charset that its container stated. Out: bytes, and a `Note` for each edit that is no
link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.model import Edit
from absolve.document.walk import inners
from absolve.formats import registry
from absolve.mirror import charset_edit, scripts, security_policy
from absolve.mirror.policy import Note
from absolve.mirror.tags import attributes, start_tags
from absolve.rewriting import rewriter
from absolve.rewriting.edits import lower, splice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.mirror.policy import MirrorPolicy
    from absolve.mirror.tags import Tag

_WHITE_SPACE: Final = b"\t\n\f\r "
_CORS: Final = (b"integrity", b"crossorigin")
_SCANNED: Final = frozenset({b"meta", b"script"})


def relinked(entity: Entity, policy: Callable[[Resolved], str | None], tally: rewriter.Tally | None = None) -> bytes:
    """Return the bytes of a document in which nothing but links changes; raise as `rewritten` does."""
    return rewriter.rewrite(entity, policy, tally=tally)


def rewritten(entity: Entity, policy: MirrorPolicy, label: str | None, *, for_server: bool = False) -> bytes:
    """Return the new bytes of a document; the same object if nothing changes.

    `label` is the charset that the container stated for it. Raise DocumentError as `rewriter.rewrite` does.
    """
    found = rewriter.edits(entity, policy)
    own: dict[int, list[Edit]] = {}
    for inside, start, end, path in policy.seen.local.values():
        _uncross(own, inside, start, end, policy, path=path if for_server else None)
    _scan(own, entity, policy)
    found += _lowered(entity, own)
    declared = charset_edit.declaration(entity.data, entity.media_type, label)
    if declared is not None:
        text = f"declared as {declared[1]}, which only the header stated"
        policy.seen.notes.append(Note(entity, declared[0].start, "charset", text))
        found.append(declared[0])
    return splice(entity.data, _disjoint(found))


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
    """Remove `integrity` and `crossorigin` from a tag: a browser refuses both for a file.

    For a server (`path` is set) only `integrity` goes, and only where the bytes of the target may change.
    """
    data = entity.own_data
    found = attributes(data, start, end)
    for name in _CORS:
        attribute = found.get(name)
        if attribute is None or (path is not None and (name != b"integrity" or not _may_change(path))):
            continue
        first = attribute.start
        while first > start and data[first - 1] in _WHITE_SPACE:
            first -= 1
        own.setdefault(id(entity), []).append(Edit(first, attribute.end, b""))
        text = f"removed {data[attribute.start : attribute.end].decode('utf-8', 'replace')[:200]}"
        policy.seen.notes.append(Note(entity, attribute.start, name.decode(), text))


def _may_change(path: str) -> bool:
    return path.endswith((".css", ".html", ".htm", ".svg", ".xml", ".xhtml"))


def _scan(own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy) -> None:
    """Scan the tags of a page, and of the pages inside it, where a fast test finds that this may matter."""
    if entity.media_type == registry.HTML and entity.charset.transparent:
        data = entity.data
        for tag in start_tags(data, _SCANNED) if _may_matter(data) else ():
            if tag.name == b"meta":
                _free(own, entity, policy, tag)
            elif tag.name == b"script":
                _read_script(entity, policy, tag)
    for inner in inners(entity):
        _scan(own, inner.entity, policy)


def _may_matter(data: bytes) -> bool:
    return scripts.may_need_server(data) or security_policy.may_have_one(data)


def _free(own: dict[int, list[Edit]], entity: Entity, policy: MirrorPolicy, tag: Tag) -> None:
    """Take a policy that forbids local files out of force."""
    found = attributes(entity.data, tag.start, tag.end)
    equiv, content = found.get(b"http-equiv"), found.get(b"content")
    if equiv is None or content is None or equiv.text(entity.charset).lower() != "content-security-policy":
        return
    directive = security_policy.forbidding(content.text(entity.charset))
    if directive is not None:
        own.setdefault(id(entity), []).append(Edit(equiv.start, equiv.start, b"data-"))
        text = f"taken out of force: its {directive} does not allow the local copy"
        policy.seen.notes.append(Note(entity, equiv.start, "csp", text))


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
