"""Request the URLs that no file answers, once each: links, old URLs, pages of the new site.

In: URLs, how to request them, an open WARC. Out: a record of each request and answer, or of its problem; `answers`
reads it like records of other programs. Links are requested with HEAD first, and with GET where HEAD may lie.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, count, zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from absolve.audit import answered
from absolve.audit.ignoring import first_match
from absolve.audit.judge import each
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from absolve.audit.ignoring import Ignore
    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Answer, Asking

    class Keep(Protocol):
        """Is called with each answer; `compares`: the words of its page count."""

        def __call__(self, answer: Answer, *, compares: bool) -> None: ...

KINDS: Final = ("external", "old", "new", "all")
INSIDE: Final = "inside"  # links to unrequested pages of a site that is named by URLs
_REFERENCES: Final = "SELECT DISTINCT target, reference FROM links_in WHERE target IS NOT NULL"
_GET: Final = "GET"
_HEAD: Final = "HEAD"
_FINAL: Final = frozenset(
    "unknown-host unreachable refused-address refused-scheme robots malformed redirects left-out".split()
)
_LATER: Final = 429


class Request(NamedTuple):
    """A URL to request. `is_whole`: its body is needed, too."""

    url: str
    is_whole: bool


def wanted(
    connection: Any, kinds: str, known: answered.Answers, ignores: Sequence[Ignore]
) -> tuple[list[Request], int]:
    """Return the requests to make, each URL once, the hosts in turn; links with an answer in `known` are left out.

    Also return how many targets are not requested, because `ignores` names them.
    """
    found: dict[str, bool] = {}
    left_out = _ignored(connection, ignores) if ignores else set()
    if kinds != "old":
        for target, url, is_inside, _ in each(connection, answered.LINKED):
            if target in left_out:
                continue
            is_wanted = kinds == "all" or is_inside == (kinds in {"new", INSIDE})
            if is_wanted and (known.outcome(url) is None or (is_inside and kinds != INSIDE)):
                found[url] = found.get(url, False) or is_inside or "#" in target
    for kind, query in (("old", answered.OLD_URLS), ("new", answered.NEW_URLS)):
        if kinds in {kind, "all"}:
            found.update((url, True) for (url,) in each(connection, query))
    return list(_in_turn(Request(*one) for one in found.items())), len(left_out)


def _ignored(connection: Any, ignores: Sequence[Ignore]) -> set[str]:
    """Return the targets that a pattern matches, or all references to them."""
    first = first_match(ignores)
    found: tuple[set[str], set[str]] = set(), set()
    for target, reference in each(connection, _REFERENCES):
        found[first(target) is not None or first(reference) is not None].add(target)
    return found[1] - found[0]


def _in_turn(found: Iterable[Request]) -> Iterator[Request]:
    """Yield requests with the hosts in turn: for example, a1, b1, a2 for hosts a and b."""
    hosts: dict[str, list[Request]] = {}
    for one in found:
        hosts.setdefault(identity.origin(one.url), []).append(one)
    return filter(None, chain.from_iterable(zip_longest(*hosts.values())))


def ask(
    requests: list[Request],
    asking: Asking,
    keep: Keep,
    done: Callable[[int, int], None],
    leaves_out: Callable[[str], object] = lambda _: False,
) -> list[str]:
    """Make all requests; `keep` is called with each answer, `done` with the numbers of answered and of all URLs.

    A redirect to a URL that `leaves_out` is true for is not followed.
    Return words for each host whose certificate ends soon.
    """
    from absolve.run.web import fetching
    from absolve.run.web.client import Client

    with Client(asking) as client:
        client.leaves_out = leaves_out
        run = _Run(client, keep)
        counted = count(1)
        for several in (requests, run.again):  # again: hosts with soft 404 answers, with GET to compare bodies
            tasks = map(run.one, list(several))
            for _ in fetching.each(partial(next, tasks, None), client):
                done(next(counted), len(requests) + len(run.again))
        return client.engine.ending()


class _Run:
    """The requests of one run; `again`: requests to repeat with GET, because bodies must be compared."""

    def __init__(self, client: Client, keep: Keep) -> None:
        self._client = client
        self._keep = keep
        self._probes: dict[str, bool] = {}  # whether a server answers for missing pages, by origin
        self.again: list[Request] = []

    def one(self, one: Request) -> Generator[Any, Any, None]:
        answer = yield from self._client.answer(one.url, _GET if one.is_whole else _HEAD)
        if not one.is_whole and _may_lie(answer):
            self._keep(answer, compares=False)
            answer = yield from self._client.answer(one.url, _GET)
        compares = answer.problem is None and (yield from self._answers_all(answer.responses[-1].url))
        self._keep(answer, compares=compares)
        if compares and answer.responses[-1].method == _HEAD:
            self.again.append(one._replace(is_whole=True))

    def _answers_all(self, url: str) -> Generator[Any, Any, bool]:
        """Return whether the server of a URL answers for missing pages, too. One request finds out."""
        probe = answered.never_there(url)
        yield from self._client.alone(probe)
        if probe not in self._probes:
            with self._client.entered(probe):
                answer = yield from self._client.answer(probe, _GET)
                self._keep(answer, compares=True)
                self._probes[probe] = answer.problem is None
        return self._probes[probe]


def _may_lie(answer: Answer) -> bool:
    """Return whether GET may get another answer than HEAD."""
    if answer.problem is None or answer.problem.code in _FINAL:
        return False
    return not answer.responses or answer.responses[-1].status != _LATER
