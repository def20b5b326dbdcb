"""No rewrite turns text into markup or code. For any document, base, URL, policy and options:

- nothing is raised but `AbsolveError`;
- the trees before and after, by independent parsers with scripting off and on, have the same elements, attributes, text
  and comments except for the values of links; messages have the same fields and parts, archives the same records;
- the edits of a mirror that are no links rename attributes and add policies, and do nothing else;
- no link gets a scheme that runs code which it did not have;
- the time is linear.

An input is a sequence of choices: the first byte is the context, the second the charset; after its end they are random.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import harm_documents
import harm_messages
import harm_mirror
import harm_text
from harm_charsets import NAMES, decode
from harm_documents import CONTEXTS, Made
from harm_judge import RUNS, HarmError, Judge
from harm_text import Choices
from harm_trees import UnjudgedError
from linear import grows_linearly
from rewritten import goes_through

import absolve
from absolve.rewriting import remap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from absolve.rewriting.policy import Policy

WORDS: Final = tuple(bytes((number,)) for number in range(256))
MIRRORED: Final = 5  # one of this many pages goes through the edits of a mirror, too
AUDITED: Final = 25  # html5lib checks one of this many inputs even if lexbor finds nothing
seen: Counter[str] = Counter()  # results of executions


class Case(NamedTuple):
    """One document with all arguments of its rewrite."""

    context: str
    charset: str
    document: Made
    options: dict[str, Any]
    policy: Policy | None
    allowed: frozenset[str]


def seeds(_shared: Path | None) -> Iterator[bytes]:
    """Return an input for every context with every charset."""
    yield from (bytes((context, charset)) for context in range(len(CONTEXTS)) for charset in range(len(NAMES)))


def fresh(number: int) -> bytes:
    """Return a generated input: contexts and charsets in turn, the other choices random."""
    return bytes((number % len(CONTEXTS), number // len(CONTEXTS) % len(NAMES))) + random.Random(number).randbytes(24)  # noqa: S311


def case(data: bytes) -> Case:
    choices = Choices(data)
    context = choices.of(CONTEXTS)
    charset = choices.of(NAMES)
    choices.ends += harm_text.known_ends(context, charset)
    if context in harm_documents.HTML:
        document, charset = harm_documents.html(choices, context, charset)
    else:
        document = harm_documents.OTHERS[context](choices, charset)
    options: dict[str, Any] = {
        "url": harm_text.url(choices), "profile": choices.of(("rfc1808", "rfc3986", "whatwg")), "fragments": choices.of(("keep", "absolute")),
        "base": choices.of(("keep", "keep", "empty")), "json_ld": context == "JSON-LD" or choices.one_in(4),
    }
    kind = choices.below(8)
    if kind == 7:  # a function may return any URL, but no markup
        return Case(context, charset, document, options, harm_text.policy(choices), RUNS)
    policy = remap.Remapping(harm_text.rules(choices)).policy if kind == 6 else None
    return Case(context, charset, document, options, policy, frozenset())


def check(data: bytes) -> None:
    made = case(data)
    judge = Judge(allowed=made.allowed, thorough=not sum(data) % AUDITED)
    try:
        outcome = judged(made, judge)
        if made.document.media_type == "text/html" and (made.context == "crossorigin" or not sum(data) % MIRRORED):
            thorough = not sum(data) % (MIRRORED * AUDITED)
            harm_mirror.judged(made.document, made.options["url"], made.charset, thorough=thorough)
    except UnjudgedError:
        outcome = "unjudged"
    except HarmError as error:
        error.add_note(f"{made.context}, {made.charset}: {made.document}, {made.options}, {made.policy}")
        raise
    seen[outcome] += 1
    grows_linearly(lambda repeated: goes_through(repeated, media_type="text/html", url=made.options["url"]), made.document.data)


def after(made: Case) -> bytes | None:
    """Return the rewrite; None if it is refused."""
    document = made.document
    options = {"media_type": document.media_type, "name": document.name, "charset": document.charset, **made.options}
    try:
        return absolve.rewrite(document.data, policy=made.policy, **options)
    except absolve.AbsolveError:
        return None


def judged(made: Case, judge: Judge) -> str:
    """Rewrite the document and check it; return the outcome. Raise HarmError for a harmful rewrite."""
    data = after(made)
    if data is None:
        return "refused"
    if data is made.document.data:
        return "unchanged"
    document = made.document
    readers = {"message/rfc822": harm_messages.mail, "message/http": harm_messages.http, "application/warc": harm_messages.warc}
    if reader := readers.get(document.media_type):
        reader(judge, document.data, data)
    elif document.media_type == "application/manifest+json":
        judge.json(decode(document.data, "utf-8"), decode(data, "utf-8"))
    else:
        judge.file(document.data, data, document.media_type, made.charset)
    return "judged"
