"""Diagnostics for documents, parts and links that are left unchanged, and their places in the outermost document.

In: an entity, a part, and an error with a byte offset in it. Out: a Finding of the outer entity, a Diagnostic, or an
exception for the whole document.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core.caching import LONGEST
from absolve.core.errors import Diagnostic, DocumentError, WalkError, in_short
from absolve.core.model import DATA, ONLY_READ, RETRIEVAL, Finding, Link, Part
from absolve.document.entity import ENTERED, MOST_DEEP
from absolve.encodings.offset_map import CUT_OFF, is_cut
from absolve.urls.base import TOO_LONG
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from absolve.core.protocols import Offsets
    from absolve.document.entity import Entity

PACKED: Final = "it is still compressed ({}): decode it before"
TOO_LARGE: Final = "documents of more than {:,} bytes are left as they are (--max-size)"
MOST_LONG_BASES: Final = 64 << 20  # characters in all: each inner document may have a long base of its own
TOO_MANY: Final = "too-many-links"
LISTED: Final = "links in a WACZ or a binary property list are listed, not rewritten"


def failure(entity: Entity, error: WalkError) -> DocumentError:
    """Return the exception for a walker's error, with its place and the source line."""
    return DocumentError(Diagnostic(error.code, *entity.placed(str(error), error.position)))


def too_large(max_size: int, name: str) -> DocumentError:
    """Return the exception for a document of more than `max_size` bytes; its place is line 1, column 1."""
    return DocumentError(Diagnostic("too-large", TOO_LARGE.format(max_size), name, 1, 1))


def too_many(entity: Entity, position: int) -> WalkError:
    """Return the error for a document with more links than `max_links`; `position` is a byte offset."""
    text = f"documents of more than {entity.settings.max_links:,} links are left as they are (max-links)"
    return WalkError(TOO_MANY, text, position)


def rows_too_large(entity: Entity) -> DocumentError:
    """Return the exception for a document whose rows exceed `max_rows_bytes`."""
    most = entity.settings.max_rows_bytes
    text = f"documents whose rows take more than {most:,} bytes are not listed (max-rows-bytes)"
    return DocumentError(Diagnostic("rows-too-large", *entity.placed(text, 0)))


def url_too_long(entity: Entity, position: int) -> Finding:
    """Return the finding for a link that stays unchanged because its URL would be too long."""
    most = entity.settings.max_url
    return Finding(TOO_LONG, f"links whose URLs would have more than {most} characters stay (max-url)", position)


def base_too_long(entity: Entity, source: str, line: int | None) -> Diagnostic:
    """Return the diagnostic for a base whose URL is too long to be used."""
    text = f"{source}: bases of more than {entity.settings.max_url} characters resolve nothing: relative links stay"
    return Diagnostic(TOO_LONG, f"{text} (max-url)", entity.name, line)


def bases_too_long(position: int) -> Finding:
    """Return the finding for an inner document that stays unchanged because long bases need too much memory."""
    text = f"documents inside, with bases of more than {LONGEST} characters of their own, are left as they are"
    return Finding(TOO_LONG, f"{text} where those have more than {MOST_LONG_BASES >> 20} MiB together", position)


def deeper(position: int) -> Finding:
    """Return the finding for a deeply nested document that stays unchanged to bound memory."""
    text = f"documents nested more than {ENTERED} deep are left as they are"
    return Finding("too-deep", f"{text} where they have more than {MOST_DEEP >> 20} MiB together", position)


def leave(
    inner: Entity,
    entity: Entity,
    part: Part,
    offsets: Offsets | None,
    error: WalkError | DocumentError,
    *,
    whole: bool,
) -> None:
    """Add a finding why a part stays unchanged; raise the error for the entity itself if the part is `whole`.

    `whole`: the error concerns the entire entity, such as too many links in a style sheet, which are links of the
    document itself.
    """
    if isinstance(error, DocumentError):  # the charset of the part has other line ends than this entity
        if whole:
            raise error
        entity.findings.append(Finding(error.diagnostic.code, with_url(part, error.message), part.start, failed=True))
        return
    position = outside(part, offsets, error.position)
    if not whole:
        entity.findings.append(Finding(error.code, with_url(part, str(error)), position, failed=part.name != DATA))
    elif entity.charset.transparent:
        raise WalkError(error.code, str(error), position) from error
    else:  # lines are counted in the decoded value
        raise failure(inner, error) from error


def seal(entity: Entity, part: Part) -> None:
    """Add a finding for a part whose links must stay: it is signed, or in a format that is only read (once)."""
    if part.signed_by != ONLY_READ:
        text = f"what is signed ({part.signed_by}) is left as it is"
        entity.findings.append(Finding("signed", text, part.start))
    elif entity.for_rewrite and not any(finding.code == "only-read" for finding in entity.findings):
        entity.findings.append(Finding("only-read", LISTED, part.start))


def cut_off(inner: Entity, entity: Entity, part: Part, offsets: Offsets | None) -> Finding | None:
    """Return a finding if a link in a part begins or ends inside the text of one entity reference, else None.

    Such a link cannot be changed. Only entities declared by an XML document have more than a character (XML 1.0 4.4).
    """
    folds = getattr(part.coding, "folds", None)
    if folds is None or offsets is None or not folds(raw := entity.cut(part.start, part.end)):
        return None
    for event in inner.events:
        if isinstance(event, (Link, Part)) and (
            is_cut(offsets, event.start)
            or is_cut(offsets, event.end)
            or (isinstance(event, Part) and folds(raw[offsets.start(event.start) : offsets.end(event.end)]))
        ):
            return Finding("entity", CUT_OFF, part.start)
    return None


def with_url(part: Part, text: str) -> str:
    """Return a message about a part, with the URL that its container records for it."""
    recorded = ""
    for claim in part.claims:
        if claim.layer is RETRIEVAL:
            recorded = claim.reference
            break
    if part.base is not None and part.base.layer is RETRIEVAL:  # a member of a package: its name is its path
        recorded = part.base.reference if has_scheme(part.base.reference) else part.name
    return _joined(text, recorded) if recorded else text


@lru_cache(64)  # a hostile archive has the same text hundreds of thousands of times: it is one object
def _joined(text: str, url: str) -> str:
    return f"{text} ({in_short(url)})"


def outside(part: Part, offsets: Offsets | None, position: int) -> int:
    """Return the offset in the outer entity of a byte in a part's value; the start of the part without `offsets`."""
    return part.start + (offsets.start(position) if offsets is not None else 0)
