"""Count where rewritten documents still name the hosts that the rules of a remap lead away from.

In: the walked document, its new bytes, the policy. Out: `HostsLeft` for the line that ends a run, and the line of the
first in each document. Links that no rule matches count as much as scripts, text and comments.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.rewriting import rewriter
from absolve.rewriting.policy import absolute
from absolve.run import sources
from absolve.run.results import HostsLeft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.inventory.mentions import Names
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.results import TaskResult

_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".ts")


def names(policy: Policy) -> Names | None:
    """Return the pattern of the hosts that the rules of a policy lead away from; None for none."""
    if policy is absolute:
        return None
    from absolve.rewriting.remap import remapping_of  # few runs have rules

    rules = remapping_of(policy)
    return _pattern(rules.old_hosts) if rules is not None and rules.old_hosts else None


@lru_cache(maxsize=4)
def _pattern(hosts: tuple[str, ...]) -> Names | None:
    from absolve.inventory import mentions

    return mentions.pattern(hosts)


def left(policy: Policy, entity: Entity, data: bytes) -> Iterator[TaskResult]:
    """Yield how often a document with these new bytes names old hosts, and where first."""
    pattern = names(policy)
    if pattern is not None:
        yield from _counted(pattern, entity.name, _texts(policy, entity, data))


def left_in_file(policy: Policy, input_: Input, head: bytes, how: ReadOptions) -> Iterator[TaskResult]:
    """Yield the same for a file that is no document: a text such as a script, not too large."""
    pattern = names(policy)
    if pattern is None or b"\0" in head:
        return
    try:
        data = sources.read(input_.name, max_size=how.settings.max_size, root=input_.root).data
    except DocumentError:
        return  # it is not read, which is reported
    kind = "text/javascript" if input_.name.lower().endswith(_SCRIPTS) else None
    yield from _counted(pattern, input_.name, iter([(data, kind)]))


def _texts(policy: Policy, entity: Entity, data: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Yield the new bytes of a document, and of those inside it whose coding hides them (base64, deflate)."""
    charset = entity.charset
    text = data if charset.transparent else charset.decode(data).encode("utf-8", "surrogatepass")
    yield text, entity.media_type
    yield from _hidden(policy, entity)


def _hidden(policy: Policy, entity: Entity) -> Iterator[tuple[bytes, str | None]]:
    from absolve.document.walk import inners

    for inner in inners(entity):
        if inner.offsets is not None:
            yield from _hidden(policy, inner.entity)
        else:
            new = inner.entity.data if inner.part.signed_by else rewriter.rewrite(inner.entity, policy)
            yield from _texts(policy, inner.entity, new)


def _counted(pattern: Names, name: str, texts: Iterator[tuple[bytes, str | None]]) -> Iterator[TaskResult]:
    from absolve.inventory import mentions

    kinds: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    line = None
    for number, (data, media_type) in enumerate(texts):
        for one in mentions.mentions(data, pattern, media_type):
            line = one.line if not kinds and not number else line
            kinds[one.kind] += 1
            hosts[data[one.start : one.end].decode("latin-1").lower().replace("%3a", ":")] += 1
    if kinds:
        yield HostsLeft(dict(kinds), dict(hosts))
        times = printable.number(kinds.total(), "time")
        yield Diagnostic("old-host", f"it still names {in_short(', '.join(hosts))}: {times}", name, line)
