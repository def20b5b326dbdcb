"""What is said of a document, or a part of one, that is left as it is, and where a fault in it stands outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic, DocumentError, WalkError, in_short
from absolve.core.model import RETRIEVAL, Finding, Link, Part
from absolve.document.entity import ENTERED, MOST_DEEP
from absolve.encodings.offset_map import CUT_OFF, is_cut
from absolve.urls.base import TOO_LONG
from absolve.urls.cache import LONGEST

if TYPE_CHECKING:
    from absolve.core.protocols import Offsets
    from absolve.document.entity import Entity

TOO_LARGE: Final = "documents of more than {} bytes are left as they are (--max-size)"
MOST_LONG_BASES: Final = 64 << 20  # characters: each document inside may have a base that ends a long one
TOO_MANY: Final = "too-many-links"


def failure(entity: Entity, error: WalkError) -> DocumentError:
    """What is wrong with a document, where it is, and the line it is in."""
    return DocumentError(Diagnostic(error.code, *entity.placed(str(error), error.position)))


def too_large(max_size: int, name: str) -> DocumentError:
    """What is wrong with a whole document of more bytes; its place is where it begins."""
    return DocumentError(Diagnostic("too-large", TOO_LARGE.format(max_size), name, 1, 1))


def too_many(entity: Entity, position: int) -> WalkError:
    text = f"documents of more than {entity.settings.max_links} links are left as they are (--max-links)"
    return WalkError(TOO_MANY, text, position)


def rows_too_large(entity: Entity) -> DocumentError:
    """Return what is wrong with a document whose rows would take more bytes than its settings allow."""
    most = entity.settings.max_rows_bytes
    text = f"documents whose rows take more than {most} bytes are not listed (--max-rows-bytes)"
    return DocumentError(Diagnostic("rows-too-large", *entity.placed(text, 0)))


def url_too_long(entity: Entity, position: int) -> Finding:
    """Return the notice about a link that stays as it is because its URL would be too long."""
    most = entity.settings.max_url
    return Finding(TOO_LONG, f"links whose URLs would have more than {most} characters stay (--max-url)", position)


def base_too_long(entity: Entity, source: str, line: int | None) -> Diagnostic:
    """Return the diagnostic about a base of which no URL is made because it would be too long."""
    text = f"{source}: bases of more than {entity.settings.max_url} characters resolve nothing: relative links stay"
    return Diagnostic(TOO_LONG, f"{text} (--max-url)", entity.name, line)


def bases_too_long(position: int) -> Finding:
    """Return the notice about a document inside that is left alone because long bases take too much memory."""
    text = f"documents inside, with bases of more than {LONGEST} characters of their own, are left as they are"
    return Finding(TOO_LONG, f"{text} where those have more than {MOST_LONG_BASES >> 20} MiB together", position)


def deeper(position: int) -> Finding:
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
    """Say why a part stays as it is; where it is the `whole` of its entity, that is the entity's own error.

    So it is where a style sheet has too many links: they are links of the document itself.
    """
    if isinstance(error, DocumentError):  # of a part in a charset whose lines are not those of this entity
        if whole:
            raise error
        entity.findings.append(Finding(error.diagnostic.code, with_url(part, error.message), part.start, failed=True))
        return
    position = outside(part, offsets, error.position)
    if not whole:
        entity.findings.append(Finding(error.code, with_url(part, str(error)), position, failed=True))
    elif entity.charset.transparent:
        raise WalkError(error.code, str(error), position) from error
    else:  # the lines are those of what it decodes to
        raise failure(inner, error) from error


def cut_off(inner: Entity, entity: Entity, part: Part, offsets: Offsets | None) -> Finding | None:
    """What is to be said where a link in a part begins or ends inside of what one reference stands for; else None.

    It cannot be changed there. Only entities that an XML document declares stand for more than a character (4.4 there).
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
    """What is said of a part, with the URL that its container records for it."""
    recorded = ""
    for claim in part.claims:
        if claim.layer is RETRIEVAL:
            recorded = claim.reference
            break
    if part.base is not None and part.base.layer is RETRIEVAL:  # of a package: its name is its path there
        recorded = part.name
    return f"{text} ({in_short(recorded)})" if recorded else text


def outside(part: Part, offsets: Offsets | None, position: int) -> int:
    """Where a byte of a part's value stands in the entity around it, or the part itself where nothing maps it."""
    return part.start + (offsets.start(position) if offsets is not None else 0)
