"""Judge links and URLs by the answers of servers: where each leads, whether a page is there, and whether it is sure.

In: `Answer`s; the distinct URLs of an audit. Out: a verdict for each URL, the table `answered` for links that no file
of the new site answers, and the rows of the result table `answers`. A URL that may work later is never called broken.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from absolve.audit.judge import each, insert, locate
from absolve.audit.verdicts import DIFFERS, EXPECTED
from absolve.urls import identity
from absolve.urls.access import is_public_host
from absolve.urls.chain import PERMANENT, follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from absolve.audit.answers import Answer, Page

WORKS: Final = "works"
REDIRECTED: Final = "redirected"
GONE: Final = "gone"
REFUSED: Final = "refused"
UNSURE: Final = "unsure"
LINK, OLD, NEW = "link", "old", "new"  # why a URL was requested

NEVER_THERE: Final = "absolve-asks-for-what-is-not-there"  # the last segment of such a URL
_NOT_THERE: Final = frozenset({404, 410})
_CLOSED: Final = frozenset({401, 402, 407, 451})  # the server knows the URL, but does not serve everybody
_REFUSALS: Final = frozenset({"unreachable", "refused-address", "refused-scheme", "robots"})
_SAME_END: Final = 3  # URLs of a host that lead to one page: a sign-in, or a page for missing pages
# Pages that a server sends instead: a sign-in, or instead of status 404.
_NO_PAGE: Final = re.compile(
    r"log-?in|log-?on|sign-?(?:in|up)|auth|consent|captcha|challenge|session|\bsid=|cookie|40[34]|not-?found|error|expired"
    r"|blocked|denied|maintenance|unavailable|unsupported|parking|domain",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?(?=/)", re.IGNORECASE)  # chosen by the client's address
_ROUTE: Final = re.compile(r"^[/!]")  # fragments for scripts

# Links that visitors follow or browsers load to URLs that no file of either site has.
LINKED: Final = """
SELECT a.target, a.url, n.site IS NOT NULL AS is_inside, count(*) AS links
FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url JOIN links_in i ON i.target = a.target
LEFT JOIN scopes n ON n.side = 'new' AND n.site = l.site AND starts_with(l.path, n.prefix)
WHERE l.resource IS NULL AND regexp_matches(a.url, '^https?:') AND (n.site IS NOT NULL OR NOT is_local(a.url))
AND i.kind <> 'form' AND i.attribute NOT IN ('@id', '@context', 'about', 'itemid', 'itemtype', 'ping', 'profile',
    'property', 'resource', 'typeof', 'vocab')
AND NOT regexp_matches(lower(i.rel), '(^| )(dns-prefetch|preconnect|profile)( |$)')
AND NOT list_contains(i.problems, 'placeholder')
AND NOT EXISTS (SELECT 1 FROM scopes o WHERE o.side = 'old' AND o.site = l.site AND starts_with(l.path, o.prefix)
    AND n.site IS NULL)
GROUP BY ALL ORDER BY a.target
"""
OLD_URLS: Final = "SELECT DISTINCT url FROM old_urls ORDER BY url"
NEW_URLS: Final = """
SELECT n.url FROM resources r JOIN named n USING (resource)
JOIN scopes s ON s.side = 'new' AND s.site = r.site AND starts_with(r.path, s.prefix)
WHERE r.side = 'new' ORDER BY n.url
"""


class Outcome(NamedTuple):
    """The end of a URL's redirects: `status` of the last answer, None without an answer, because of `problem`."""

    final: str
    status: int | None
    hops: int = 0
    first_status: int | None = None
    problem: str = ""
    is_permanent: bool = False
    is_loop: bool = False
    page: Page | None = None
    date: str = ""
    is_html: bool = False


class Answers:
    """All known answers, the last one for each URL."""

    def __init__(self, found: Iterable[Answer] = ()) -> None:
        self._by_url: dict[str, Answer] = {}
        self._ends: Counter[tuple[str, str]] = Counter()
        self._outcomes: dict[str, Outcome | None] = {}
        self.add(found)

    def __len__(self) -> int:
        return len(self._by_url)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._by_url.values())

    def add(self, found: Iterable[Answer]) -> None:
        self._outcomes.clear()
        for one in found:
            one = _as_sent(one)  # noqa: PLW2901
            before = self._by_url.pop(one.url, None)  # the last answers are at the end
            is_same = before is not None and before.status == one.status and one.page is None
            self._by_url[one.url] = one._replace(page=before.page) if before is not None and is_same else one  # HEAD
        self._ends = Counter(
            (identity.origin(url), last.final)
            for url in self._by_url
            if (last := self.outcome(url)) is not None and last.hops and last.final != url
        )

    def has_heard(self) -> bool:
        """Return whether any server answered: if none did, there was no network."""
        return any(one.status is not None for one in self._by_url.values())

    def outcome(self, url: str) -> Outcome | None:
        """Return where a URL leads, None if it was not requested. A user and password in it make no difference."""
        if url not in self._outcomes:
            self._outcomes[url] = self._followed(identity.without_user(url) if "@" in url else url)
        return self._outcomes[url]

    def _followed(self, url: str) -> Outcome | None:
        one = self._by_url.get(url)
        if one is None:
            return None

        def step(at: str) -> Answer | None:
            found = self._by_url.get(at)
            return found if found is not None and found.target is not None else None

        def target(found: Answer) -> str:
            return "" if found.is_end else (found.target or "").partition("#")[0]  # "" has no answer

        steps, end, circle = follow(url, step, target)
        first, hops = one.status, len(steps)
        if steps:
            one = steps[-1][1]
            url = one.target or ""
            if one.is_end or circle is not None:
                return Outcome(url, one.status, hops, first, is_loop=not one.is_end, date=one.date)
            if end not in self._by_url:
                return Outcome(url, None, hops, first, "where it leads was not asked for", date=one.date)
            one = self._by_url[end]
        is_permanent = all(passed.status in PERMANENT for _, passed in steps)
        facts = one.problem, is_permanent, False, one.page, one.date, one.is_html
        return Outcome(url, one.status, hops, first, *facts)

    def verdict(self, url: str) -> tuple[str, str] | None:
        """Return the verdict of a URL and why, for example ("gone", "status 404"); None if it was not requested."""
        found = self.outcome(url)
        return None if found is None else self._verdict(url, found)

    def _verdict(self, url: str, found: Outcome) -> tuple[str, str]:
        if found.is_loop:
            return GONE, "its redirects lead in a circle"
        if found.status is None:
            return _without_status(found.problem, is_online=self.has_heard())
        if found.status in _NOT_THERE:
            return GONE, f"status {found.status}"
        if found.status in _CLOSED:
            return REFUSED, f"status {found.status}"
        if not (200 <= found.status < 300 or found.status == 304):
            return UNSURE, ", ".join(filter(None, [f"status {found.status}", found.problem]))
        if (soft := self._soft(url, found)) is not None:
            return soft
        return (REDIRECTED, f"to {found.final}") if found.hops else (WORKS, "")

    def _soft(self, url: str, found: Outcome) -> tuple[str, str] | None:
        """Return the verdict of a soft 404: the answer for a URL that cannot exist is the same; None otherwise."""
        probe = self.outcome(never_there(found.final))
        if probe is None or probe.status is None or not 200 <= probe.status < 300 or _is_root(url):
            return None
        if found.hops and probe.hops and found.final == probe.final:
            return GONE, f"it leads to {found.final}, as all that is not there (soft 404)"
        if found.page is None or probe.page is None or found.page.likeness != probe.page.likeness:
            return None
        if found.page.is_shell:
            return UNSURE, "the server answers the same page for everything, and scripts fill it"
        return GONE, "the server answers the page for what is not there, with status 200 (soft 404)"

    def is_sure(self, url: str, found: Outcome) -> bool:
        """Return whether links to a URL may be changed: its redirects are permanent, and few share their end."""
        return (
            found.is_permanent
            and found.hops > 0
            and not _is_doubtful(url, found.final)
            and self._ends[identity.origin(url), found.final] < _SAME_END
        )

    def lacks(self, target: str, found: Outcome) -> str | None:
        """Return the verdict of a missing fragment; None if its place is there, or the page was not read."""
        fragment = target.partition("#")[2].partition(":~:")[0]  # a text fragment begins there
        page = found.page
        if not fragment or page is None or _ROUTE.match(fragment) or unquote(fragment).lower() == "top":
            return None
        names = {fragment, unquote(fragment)}
        wanted = names | {f"user-content-{name}" for name in names}
        if not page.places.isdisjoint(wanted) or not identity.is_name(unquote(fragment)):
            return None
        return UNSURE if page.has_scripts else "fragment"


def _as_sent(one: Answer) -> Answer:
    """Return an answer with URLs as browsers send them, without a user and password."""
    target = one.target and identity.without_user(identity.normal(one.target) or one.target)
    fragment = (one.target or "").partition("#")[2]
    url = identity.without_user(one.url) if "@" in one.url else one.url
    return one._replace(url=url, target=f"{target}#{fragment}" if target and fragment else target)


def never_there(url: str) -> str:
    """Return a URL of the same host that cannot exist, for example `http://h/absolve-asks-for-what-is-not-there`."""
    return f"{identity.origin(url)}/{NEVER_THERE}"


def _is_doubtful(url: str, final: str) -> bool:
    """Return whether a redirect may not be for good: to a home page, a sign-in, a parked domain.

    Its end is no repair either if it lost the query, names the URL in its own query, has http instead of https, is in
    this network, or differs in a language: for example, `/a?to=/b`, or `/de/a` for `/a`.
    """
    (old, _, old_query), (new, _, new_query) = (one.partition("#")[0].partition("?") for one in (url, final))
    host = identity.origin(url).rpartition("/")[2]
    is_known = _NO_PAGE.search(new.removeprefix(identity.origin(final)) + new_query) is not None
    return (
        is_known
        or (_is_root(final) and not _is_root(url))
        or (old_query != "" and new_query == "" and old.rstrip("/") == new.rstrip("/"))
        or host in unquote(new_query)
        or (url.startswith("https:") and final.startswith("http:"))
        or not is_public_host(urlsplit(final).hostname or "")
        or (new != old and _LANGUAGE.sub("", f"{new}/", count=1).rstrip("/") == old.rstrip("/"))
    )


def _is_root(url: str) -> bool:
    path = re.split("[?#]", url, maxsplit=1)[0]
    return path.count("/") == 3 and path.endswith("/")


def _without_status(problem: str, *, is_online: bool) -> tuple[str, str]:
    code, _, words = problem.partition(": ")
    if " " in code:  # a message of another program: `Could not resolve host: h`
        return UNSURE, problem
    if code == "unknown-host" and is_online:
        return GONE, words or problem
    if code == "redirects":
        return GONE, words or problem
    return (REFUSED if code in _REFUSALS else UNSURE), words or problem


# --- links ------------------------------------------------------------------------------------------------------------

_LINK_VERDICTS: Final = {GONE: "broken", REFUSED: UNSURE, UNSURE: UNSURE}


# A site that is named by URLs has more pages than were read: the others are not known.
_NOT_ASKED: Final = """
CREATE OR REPLACE TABLE not_asked AS SELECT DISTINCT a.target
FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url JOIN scopes n ON n.side = 'new' AND n.site = l.site
WHERE l.resource IS NULL AND starts_with(l.path, n.prefix) AND a.target NOT IN (SELECT target FROM answered)
AND NOT ?
"""


def judge_links(connection: Any, found: Answers, *, is_whole: bool = True) -> None:
    """Fill the tables `answered`, with the verdicts of link targets that no file answers, and `working`.

    `is_whole`: the files are the whole new site.
    """
    if len(found):
        insert(connection, "answered", _judged_links(each(connection, LINKED), found))
        pages = ((url,) for _, url, *_ in each(connection, LINKED) if (last := found.outcome(url)) and last.is_html)
        insert(connection, "answered_pages", pages)
        insert(connection, "working", ((one.url,) for one in found if (found.verdict(one.url) or ("",))[0] == WORKS))
    connection.execute(_NOT_ASKED, [is_whole])
    connection.execute(f"INSERT INTO answered SELECT target, '{UNSURE}', NULL, 0, false FROM not_asked")  # noqa: S608 - of ours


def _judged_links(targets: Iterable[tuple[str, str, bool, int]], found: Answers) -> Iterator[tuple[Any, ...]]:
    for target, url, is_inside, _ in targets:
        outcome, verdict = found.outcome(url), found.verdict(url)
        if outcome is None or verdict is None:
            continue
        word, sure = _LINK_VERDICTS.get(verdict[0]), False
        if outcome.is_loop or outcome.problem.startswith("redirects: "):
            word = "loop"
        elif verdict[0] == REDIRECTED and (is_inside or outcome.is_permanent):
            word, sure = REDIRECTED, found.is_sure(url, outcome)
        word = word or found.lacks(target, outcome) or ("ok" if is_inside else "external")
        final = _with_fragment(outcome.final, target) if word == REDIRECTED else None
        yield target, word, final, outcome.hops, sure and found.lacks(target, outcome) is None


def _with_fragment(final: str, target: str) -> str:
    """Return a URL with the fragment of a link, unless its redirect has one (RFC 9110 10.2.2): for example `/b#f`."""
    fragment = target.partition("#")[2]
    return f"{final}#{fragment}" if fragment and "#" not in final else final


def site_answers(connection: Any, found: Answers) -> list[Answer]:
    """Return the answers for URLs of both sites."""
    sites = {site for (site,) in each(connection, "SELECT site FROM scopes")}
    return [one for one in found if identity.named(one.url) in sites]


# --- the table of answers ---------------------------------------------------------------------------------------------

_EXPECTED: Final = """
SELECT j.url, CASE verdict WHEN 'kept' THEN there WHEN 'mapped' THEN led_final WHEN 'moved' THEN elsewhere
    WHEN 'replaced' THEN elsewhere WHEN 'lost' THEN led_final END AS final, coalesce(led_hops, 0) AS hops, d.status,
    verdict = 'lost' AS is_lost
FROM judged_urls j LEFT JOIN led d ON d.url = j.led_url ORDER BY j.url
"""
# Each difference is a finding.
DIFFERENCES: Final = f"""
INSERT INTO pages SELECT url, '' AS document, verdict,
    detail || CASE WHEN expected IS NULL THEN '' ELSE '{EXPECTED}' || expected END
FROM answers WHERE verdict = '{DIFFERS}' ORDER BY url
"""  # noqa: S608 - names of ours


class Expected(NamedTuple):
    """The expected end of an old URL, by maps, contents and the files of the new site; `final` is None for nothing.

    `is_lost`: a rule leads it to `final`, where no file is.
    """

    url: str
    final: str | None
    hops: int
    status: int | None  # of the rule that moves it
    is_lost: bool = False


def expected(connection: Any) -> Iterator[Expected]:
    """Yield the expected end of each old URL."""
    return (Expected(*row) for row in each(connection, _EXPECTED))


def table(connection: Any, found: Answers) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the table `answers`: for links, for old URLs with the expected end, and for new URLs."""
    links: dict[str, int] = {}
    for _, url, _, number in each(connection, LINKED):
        links[url] = links.get(url, 0) + number
    for url, number in links.items():
        yield from _row(found, url, LINK, None, links=number)
    olds = [one for one in expected(connection) if found.outcome(one.url) is not None]
    ends = [one.final for one in olds if one.final is not None]
    ends += [last.final for one in olds if (last := found.outcome(one.url)) is not None]
    at = _resources(connection, ends)
    for one in olds:
        yield from _row(found, one.url, OLD, one.final, differs=_difference(found, one, at))
    for (url,) in each(connection, NEW_URLS):
        last = found.outcome(url)
        differs = "" if last is None or last.final == url else f"it leads to {last.final}"
        yield from _row(found, url, NEW, url, differs=differs)


def _resources(connection: Any, urls: Iterable[str]) -> Mapping[str, int]:
    """Return the resources of the new site at URLs."""
    connection.execute("CREATE OR REPLACE TABLE wanted (side VARCHAR, url VARCHAR)")
    insert(connection, "wanted", [("new", url) for url in dict.fromkeys(one.partition("#")[0] for one in urls)])
    locate(connection)
    query = "SELECT url, resource FROM located WHERE side = 'new' AND resource IS NOT NULL"
    return dict(connection.execute(query).fetchall())


def _difference(found: Answers, one: Expected, at: Mapping[str, int]) -> str:
    """Return how the answer for an old URL differs from the expected one, for example "it is not redirected", or ""."""
    last, word = found.outcome(one.url), found.verdict(one.url)
    if last is None or word is None or word[0] in {REFUSED, UNSURE}:
        return ""
    if one.final is None:
        return "" if word[0] == GONE else f"nothing was expected there, and it leads to {last.final}"
    here, there = (url.partition("#")[0] for url in (last.final, one.final))
    if word[0] == GONE:
        return word[1] if here != there or not one.is_lost else ""  # the rule itself is the finding
    lacks_query = _query(there) not in {"", _query(here)}
    if here != there and (at.get(here) is None or at.get(here) != at.get(there) or lacks_query):
        return f"it leads to {last.final}" if last.hops else "it is not redirected"
    if last.hops > max(1, one.hops):
        return f"it takes {last.hops} redirects"
    if one.status in PERMANENT and last.hops and last.first_status not in PERMANENT:
        return f"its redirect has status {last.first_status}, not {one.status}"
    return ""


def _query(url: str) -> str:
    return url.partition("?")[2]


def _row(
    found: Answers, url: str, kind: str, wanted: str | None, *, differs: str = "", links: int | None = None
) -> Iterator[tuple[Any, ...]]:
    last, word = found.outcome(url), found.verdict(url)
    if last is None or word is None:
        return
    is_wrong = kind == NEW and word[0] == GONE
    verdict, detail = (DIFFERS, differs or word[1]) if differs or is_wrong else word
    yield url, kind, wanted, last.status, last.final, last.hops, verdict, detail or None, last.date or None, links
