"""The edits of a mirror that are no links, on the pages of the harm fuzzer: they only rename, and add `meta` elements."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from harm_documents import Made
from harm_judge import HarmError, Judge
from harm_trees import Node

import absolve
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.mirror import edits
from absolve.mirror.policy import MirrorPolicy, Response, Target
from absolve.rewriting import rewriter

if TYPE_CHECKING:
    from absolve.mirror.lookup import Lookup

FIELDS: Final = "content-security-policy: default-src http:; sandbox, img-src 'self' \"&<b>"
_RENAMED: Final = re.compile(r"data-(?:x-)*(integrity|crossorigin)|data-was-(http-equiv)")


class Everything:
    """A capture of everything, in which each response is a script."""

    origins = frozenset({"http://h.example/"})

    def response(self, path: str) -> Response:
        return Response(f"http://{path}", "text/javascript", "")

    def needs_charset(self, path: str) -> bool:  # noqa: ARG002 - of the protocol
        return True

    def digests(self, path: str) -> dict[str, str]:  # noqa: ARG002 - of the protocol
        return {}


class MirrorJudge(Judge):
    """A judge for which renamed attributes and added policies are no harm."""

    def _nodes(self, old: Sequence[Node], new: Sequence[Node], *, raw: str) -> None:
        super()._nodes(_without_edits(old), _without_edits(new), raw=raw)


def _without_edits(nodes: Sequence[Node]) -> list[Node]:
    found: list[Node] = []
    is_left_out = False
    for node in nodes:
        if is_left_out:  # the end of the element
            is_left_out = False
            continue
        attributes = {_RENAMED.sub(r"\1\2", key): value for key, value in reversed(node.attributes)}
        is_policy = attributes.get("http-equiv", "").lower().strip() == "content-security-policy"
        is_left_out = str(node.kind).endswith("meta") and (is_policy or "charset" in attributes)
        if not is_left_out:
            found.append(node._replace(attributes=tuple(reversed(attributes.items()))))
    return found


def edited(made: Made, url: str | None) -> tuple[bytes, bytes] | None:
    """Return a page in a mirror that holds all that it needs, with its links alone, and with all edits.

    Return None if it is refused.
    """
    document = Document(made.data, name=made.name, media_type=made.media_type, charset=made.charset, url=url)
    try:
        entity = walk(document, Settings(profile="whatwg", base="empty").checked())
        links_only = rewriter.rewrite(entity, _policy())
        return links_only, edits.rewritten(entity, _policy(), made.charset)
    except absolve.AbsolveError:
        return None


def _policy() -> MirrorPolicy:
    return MirrorPolicy(
        "h/a.html",
        lambda target: Target("h/s.js") if target.startswith("http") else None,
        url="http://h.example/", fields=FIELDS, responses=cast("Lookup", Everything()),
    )


def judged(made: Made, url: str | None, charset: str, **options: Any) -> None:
    """Raise HarmError if the edits of a mirror do more than they say."""
    found = edited(made, url)
    if found is not None and (charset != "iso-2022-jp" or b"\x1b" not in made.data):  # its comments may end elsewhere
        old, new = found
        MirrorJudge(allowed=frozenset({"data:"}), **options).file(old, new, made.media_type, charset)
        if b"script-src" not in new.replace(b"\0", b""):
            raise HarmError(f"policy: the one of the header is not in {new!r}")
