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

import harm_html
import harm_messages
import harm_mirror
import harm_others
import harm_text
from harm_charsets import NAMES, decode, encode
from harm_html import attribute
from harm_judge import RUNS, HarmError, Judge
from harm_others import Made
from harm_text import Choices, reference
from harm_trees import UnjudgedError
from linear import grows_linearly
from rewritten import goes_through

import absolve
from absolve.rewriting import remap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from absolve.rewriting.policy import Policy

harm_html.CONTEXTS["crossorigin"] = harm_mirror.cors(lambda choices: attribute(choices, reference(choices)))
CONTEXTS: Final = (*harm_html.CONTEXTS, *harm_others.CONTEXTS)
WORDS: Final = tuple(bytes((number,)) for number in range(256))
MIRRORED: Final = 5  # one of this many pages goes through the edits of a mirror, too
AUDITED: Final = 25  # html5lib checks one of this many inputs even if lexbor finds nothing
counts: Counter[tuple[str, str]] = Counter()  # executions by context and charset
seen: Counter[str] = Counter()  # their results


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
    for context in range(len(CONTEXTS)):
        for charset in range(len(NAMES)):
            yield bytes((context, charset))


def fresh(number: int) -> bytes:
    """Return a generated input: contexts and charsets in turn, the other choices random."""
    return bytes((number % len(CONTEXTS), number // len(CONTEXTS) % len(NAMES))) + random.Random(number).randbytes(24)  # noqa: S311


def case(data: bytes) -> Case:
    choices = Choices(data)
    context = choices.of(CONTEXTS)
    charset = choices.of(NAMES)
    choices.ends += harm_text.known_ends(context, charset)
    if context in harm_html.CONTEXTS:
        document, charset = page(choices, context, charset)
    else:
        document = harm_others.CONTEXTS[context](choices, charset)
    options: dict[str, Any] = {
        "url": harm_text.url(choices),
        "profile": choices.of(("rfc1808", "rfc3986", "whatwg")),
        "fragments": choices.of(("keep", "absolute")),
        "base": choices.of(("keep", "keep", "empty")),
        "json_ld": context == "JSON-LD" or choices.one_in(4),
    }
    policy: Policy | None = None
    allowed = frozenset[str]()
    kind = choices.below(8)
    if kind == 6:
        rule = harm_text.rules(choices)
        policy = remap.Remapping(rule).policy
    elif kind == 7:
        policy = harm_text.policy(choices)
        allowed = RUNS  # a function may return any URL, but no markup
    return Case(context, charset, document, options, policy, allowed)


def page(choices: Choices, context: str, charset: str) -> tuple[Made, str]:
    """Return a page in a charset that is declared, given by the user, or indicated by a byte order mark."""
    if charset.startswith("utf-16"):
        mark = choices.one_in(2)
        text = harm_html.document(choices, context, label=None)
        return Made(encode("\ufeff" * mark + text, charset), "text/html", None, None if mark else charset), charset
    declared = charset in {"replacement", "x-user-defined"} or choices.one_in(2)
    text = harm_html.document(choices, context, label=charset if declared else None)
    unsaid = not declared and text.isascii() and "\x1b" not in text and choices.one_in(2)  # browsers detect these escapes
    real = "windows-1252" if charset == "x-user-defined" else charset
    return Made(encode(text, real), "text/html", None, None if declared or unsaid else charset), real


def check(data: bytes) -> None:
    made = case(data)
    counts[made.context, NAMES[data[1] % len(NAMES)] if len(data) > 1 else made.charset] += 1
    judge = Judge(allowed=made.allowed, thorough=not sum(data) % AUDITED)
    try:
        outcome = judged(made, judge)
        if made.document.media_type == "text/html" and (made.context == "crossorigin" or not sum(data) % MIRRORED):
            thorough = not sum(data) % (MIRRORED * AUDITED)
            harm_mirror.judged(made.document, made.options["url"], made.charset, thorough=thorough)
    except UnjudgedError:
        outcome = "unjudged"
    except HarmError as error:
        error.add_note(shown(made))  # and its own line, which distinguishes findings
        raise
    seen[outcome] += 1
    seen["seen by html5lib"] += bool(judge.looked)
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
    try:
        compare(judge, made.document, data, made.charset)
    except UnjudgedError:
        return "unjudged"
    return "judged"


def compare(judge: Judge, document: Made, after: bytes, charset: str) -> None:
    readers = {"message/rfc822": harm_messages.mail, "message/http": harm_messages.http, "application/warc": harm_messages.warc}
    if reader := readers.get(document.media_type):
        reader(judge, document.data, after)
    elif document.media_type == "application/manifest+json":
        judge.json(decode(document.data, "utf-8"), decode(after, "utf-8"))
    else:
        judge.file(document.data, after, document.media_type, charset)


def shown(made: Case) -> str:
    """Return the call that reproduces it."""
    options = {key: value for key, value in made.options.items() if value not in {None, False, "keep", "rfc1808"}}
    known = {"media_type": made.document.media_type, "name": made.document.name, "charset": made.document.charset, **options}
    words = ", ".join(f"{key}={value!r}" for key, value in known.items() if value is not None)
    policy = ", policy=..." if made.policy is not None else ""
    return f"{made.context}, {made.charset}: rewrite({made.document.data!r}, {words}{policy})"


def report() -> str:
    """Return the executions by context and charset."""
    columns = sorted({charset for _, charset in counts})
    rows = sorted({context for context, _ in counts}, key=CONTEXTS.index)
    lines = ["executions by context"]
    lines += [f"{context:>26}{sum(counts[context, charset] for charset in columns):>10}" for context in rows]
    lines += ["executions by charset"]
    lines += [f"{charset:>26}{sum(counts[context, charset] for context in rows):>10}" for charset in columns]
    empty = sum(not counts[context, charset] for context in rows for charset in columns)
    lines += [f"{len(rows)} contexts times {len(columns)} charsets, {empty} pairs without an execution"]
    lines += [f"{outcome}: {count}" for outcome, count in seen.most_common()]
    return "\n".join(lines)
