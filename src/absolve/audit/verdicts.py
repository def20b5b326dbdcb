"""The verdicts of an audit, one row each: their meanings, messages, repairs and titles, for all outputs.

A verdict is a branch of a query and a row here. In: nothing. Out: the table, and sentences about verdicts and rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.core.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterator


class Verdict(NamedTuple):
    """`name`: a short title. `meaning`: a sentence for the rule. `message`: a template for one finding.

    `repair`: advice where no fix and no rule is known. `severity`: the place in SEVERITIES. `title`: the beginning of a
    cause, before the reference. `is_tolerated`: a finding, but no exit status 1, unless --fail-on names it. `is_note`:
    a note for build servers, not a warning.
    """

    name: str
    meaning: str
    message: str
    repair: str = ""
    severity: int = 0
    title: str = ""
    is_tolerated: bool = False
    is_note: bool = False


SEVERITIES: Final = (
    "Visitors or search engines meet an error",
    "Works, but not as intended",
    "To know: no reason to wait",
)
_TABLE: Final = {
    "links": {
        # In the order of the checks: the first verdict that holds counts.
        "ok": Verdict("Fine", "The target is there.", "{reference}"),
        "same": Verdict("Same document", "The link leads to its own document.", "{reference}"),
        "external": Verdict(
            "External", "The link leads to another site, which is not judged, or works.", "{reference}",
        ),
        "malformed": Verdict(
            "Malformed", "The reference is no URL.", "{reference} is no URL", repair="Correct the URL.",
            title="This is no URL: ",
        ),
        "unresolved": Verdict(
            "Unresolved", "There is no base URL for a relative reference.", "{reference} has no base URL to resolve it",
            repair="Give the page a base URL: --url, or a base element.", title="No base URL is known for ",
        ),
        "placeholder": Verdict(
            "Placeholder", "The reference has a mark of a template that no program has filled in.",
            "{reference} is a placeholder", repair="Run the program that fills in the template.",
            title="No program has filled in this template: ",
        ),
        "divergent": Verdict(
            "Divergent", "The RFCs and browsers disagree where the link leads.",
            "the RFCs and browsers disagree where {reference} leads", repair="Write the link as an absolute URL.",
            severity=1, title="Browsers and the RFCs disagree where this leads: ",
        ),
        "leftover": Verdict(
            "Leftover", "The link names the old site.", "{reference} names the old site",
            repair="Write the URL on the new site.", severity=1, title="Still names the old site: ",
        ),
        "local": Verdict(
            "Local", "The link leads to the machine that the site was made on.", "{reference} leads to the own machine",
            repair="Write the public URL.", title="Leads to the machine that the site was made on: ",
        ),
        "mixed": Verdict(
            "Mixed content", "An https page loads this by http: browsers block it.", "{reference} is loaded by http",
            repair="Load it by https.", title="Browsers block http in an https page: ",
        ),
        "insecure": Verdict(
            "Insecure", "A link to a page of the own host uses http.", "{reference} uses http", repair="Write https.",
            severity=1, title="Leads to this site by http: ", is_tolerated=True, is_note=True,
        ),
        "loop": Verdict(
            "Redirect loop", "Redirects lead in a circle.", "the redirects of {reference} lead in a circle",
            repair="Correct the redirects.", title="Redirected in a circle, or more than 20 redirects: ",
        ),
        "chain": Verdict(
            "Redirect chain", "The target is reached by more than one redirect.", "{reference} takes {hops} redirects",
            repair="Write the last URL, and join the redirects.", severity=1, title="Redirected more than once: ",
        ),
        "redirected": Verdict(
            "Redirected", "The target is reached by a redirect.", "{reference} is redirected",
            repair="Write the URL that the redirect leads to.", severity=1, title="Redirected: ",
        ),
        "case": Verdict(
            "Letter case", "The target is there in other letter case.", "{reference} has other letter case",
            repair="Write the name in the letter case of the file.", title="Wrong case: ",
        ),
        "slash": Verdict(
            "Slash", "The target is there with or without the slash at its end.",
            "{reference} differs in the slash at its end", repair="Write the URL of the page that is there.",
            severity=1,
            title="There with or without the final slash: ",
        ),
        "encoding": Verdict(
            "Encoding", "The target is there in another Unicode or percent form.",
            "{reference} is written in another form",
            repair="Write the URL as the file is named.", severity=1,
            title="There with other escapes or another Unicode form: ",
        ),
        "relative": Verdict(
            "Relative", "The reference is relative where only a full URL works, or in a page for missing URLs a path.",
            "{reference} is relative, which does not work here", repair="Write the URL with its scheme and host.",
            severity=1, title="Needs a full URL: ",
        ),
        "fragment": Verdict(
            "Missing place", "The document is there, the anchor is missing.",
            "the place that {reference} leads to is not there", repair="Restore the id, or change the fragment.",
            severity=1, title="The page is there, the anchor is missing: ",
        ),
        "unsure": Verdict(
            "Unsure", "A server did not answer whether the target is there.",
            "it is not known whether {reference} works",
            repair="Open the URL in a browser.", severity=1, title="It is not sure whether this works: ",
            is_tolerated=True,
        ),
        "broken": Verdict(
            "Broken", "The target is not there.", "the target of {reference} is not there",
            repair="Replace the link, or remove it; on this site add the page, or a rule for its URL.",
        ),
    },
    "old URLs": {
        "kept": Verdict("Kept", "The old URL is there, with its content.", "{url}"),
        "mapped": Verdict("Mapped", "A rule leads the old URL to a page that is there.", "{url}"),
        "moved": Verdict(
            "Moved", "The content of the old URL is elsewhere, and no rule leads to it.", "{url} has no rule",
            repair="Add the rule of each: --write-map writes them.",
        ),
        "replaced": Verdict(
            "Replaced", "The old URL leads to a page with other content.", "{url} has other content now",
            repair="Decide which page the readers of the old URL should get.", severity=1,
        ),
        "gone": Verdict("Gone", "The map states that the old URL is gone.", "{url}"),
        "lost": Verdict(
            "Lost", "The old URL leads nowhere.", "{url} leads nowhere",
            repair="Add a rule, or state in the map that the page is gone (410).",
        ),
    },
    "pages": {
        "noindex": Verdict(
            "Not indexed", "Search engines may not index the page.", "search engines may not index {url}",
            repair="Remove noindex before the launch, if it is not meant.",
        ),
        "orphan": Verdict(
            "Orphan", "No link and no sitemap leads to the page.", "nothing leads to {url}",
            repair="Link to the page, or remove it.", severity=1, is_tolerated=True, is_note=True,
        ),
        "canonical": Verdict(
            "Canonical", "The canonical link of the page contradicts.", "the canonical link of {url} contradicts",
            repair="Write the page's own new URL.", severity=1,
        ),
        "hreflang": Verdict(
            "Languages", "The links to other languages contradict.", "the links of {url} to other languages contradict",
            repair="List the same languages on each of the pages.", severity=1,
        ),
        "sitemap": Verdict(
            "Sitemap", "The sitemap and the pages of the site differ.", "the sitemap and the site differ about {url}",
            repair="Write the sitemap again, with the final URLs.", severity=1,
        ),
        "duplicate": Verdict(
            "Duplicate", "The same content has two URLs, and no canonical link.",
            "{url} has the content of another URL",
            repair="Add a canonical link to one of the two, or redirect it.", severity=1,
        ),
        "unused": Verdict(
            "Unused", "No page refers to the picture, style or script; looked for if --fail-on names it.",
            "nothing refers to {url}", repair="Remove the file, unless a script makes its URL.", severity=2,
            is_tolerated=True, is_note=True,
        ),
        "differs": Verdict(
            "Differs", "A server does not answer as the maps and the files have it.",
            "the server answers {url} otherwise",
            repair="Correct the configuration of the server, or the map.",
        ),
    },
    "rules": {
        "unread-rule": Verdict(
            "Unread rule", "A rule of the map could not be read, and was not used.", "{detail}: {reference}",
            repair="Correct the line: no link and no URL was judged by it.",
        ),
        "wrong-rule": Verdict(
            "Wrong rule", "A rule of the map never applies, is a loop, or leads to another rule or to nothing.",
            "{detail}: {reference}", repair="Correct the rule, or remove it.",
        ),
    },
    "pages that stayed": {
        "changed": Verdict(
            "Changed", "A page of the old site stayed, with another title, language, canonical or the like.",
            "{url} has changed", is_tolerated=True,
        ),
    },
}
BY_KIND: Final = {kind: tuple(rows) for kind, rows in _TABLE.items()}
LINK_VERDICTS, URL_VERDICTS, PAGE_VERDICTS, RULE_VERDICTS, _ = BY_KIND.values()
_ROWS: Final = {word: row for rows in _TABLE.values() for word, row in rows.items()}
VERDICTS: Final = tuple(_ROWS)
QUIET: Final = ("ok", "same", "external")  # links that are not findings
FINE: Final = ("kept", "mapped", "gone")  # old URLs that are not findings
FOUND: Final = tuple(word for word in VERDICTS if word not in {*QUIET, *FINE})  # of findings
TOLERATED: Final = (*QUIET, *FINE, *(word for word, row in _ROWS.items() if row.is_tolerated))
DIFFERS: Final = "differs"  # a server does not answer as the maps and files have it
EXPECTED: Final = "; expected: "  # between the answer and a URL
UNREAD: Final = "unread-rule"
WRONG: Final = "wrong-rule"

# The rules with a verdict, in the table `{}`; DuckDB and SQLite understand it.
RULES_FOUND: Final = f"""
SELECT CASE WHEN problem IS NULL THEN '{WRONG}' ELSE '{UNREAD}' END AS verdict, file, line, text, problem, finding
FROM {{}} WHERE problem IS NOT NULL OR (finding <> 'unused' AND finding NOT LIKE 'repeats %')
"""  # noqa: S608 - names of ours
# Rules that change nothing are not findings.
WITHOUT_EFFECT: Final = "problem IS NULL AND (finding = 'unused' OR finding LIKE 'repeats %')"
PLACE: Final = "http://localhost/"  # the root of a folder without --url


def failing(words: str | None) -> frozenset[str]:
    """Return the verdicts of --fail-on, for example `broken,lost` or `none`. Raise UsageError for an unknown word."""
    if words is None:
        return frozenset(VERDICTS) - frozenset(TOLERATED)
    listed = [word.strip() for word in words.split(",") if word.strip()]
    if listed == ["none"]:
        return frozenset()
    for word in listed:
        if word not in VERDICTS:
            raise UsageError(f"--fail-on: {word!r} is no verdict: choose from {', '.join(VERDICTS)}")
    return frozenset(listed)


# --- sentences --------------------------------------------------------------------------------------------------------

_RULE_SENTENCES: Final = {
    "loop": "this rule is a redirect loop",
    "chain": "another rule moves the target of this one on (chain): --write-map joins them",
    "leads to http": "this rule leads to this site by http, which is https",
    "leads to nothing": "this rule moves a URL to where nothing is",
    "hidden by a file": "this rule never applies: the new site has a file of this path",
}
HIDDEN: Final = "wrong-rule:hidden by an earlier rule"  # one cause for all such rules


def rule_sentence(problem: str | None, finding: str | None) -> str:
    """Return a sentence about the problem of a rule, or the finding about it.

    >>> rule_sentence(None, "repeats 3")
    'this rule never applies: it repeats line 3'
    """
    if problem is not None or finding is None:
        return problem or ""
    word, _, line = finding.rpartition(" ")
    place = f"line {line}" if line.isdigit() else line
    verb = f"is {word}" if word.startswith("shadowed") else word
    return _RULE_SENTENCES.get(finding) or f"this rule never applies: it {verb} {place}"


def titles() -> Iterator[tuple[str, str]]:
    """Yield the titles of causes, by the verdict, or for wrong rules by the finding."""
    yield from ((verdict, row.title or row.meaning) for verdict, row in _ROWS.items())
    for finding in _RULE_SENTENCES:
        sentence = rule_sentence(None, finding).removeprefix("this rule ")
        yield f"wrong-rule:{finding}", f"A wrong rule of the map: {sentence}"
    yield HIDDEN, "A wrong rule of the map: an earlier rule has its URLs"


def counted(
    links: int,
    links_found: int,
    urls: int,
    urls_found: int,
    pages: int,
    differing: int,
    unread: int,
    wrong: int,
    *,
    is_whole: bool = True,
) -> str:
    """Return the counts of findings in words, for example "findings: 2 of 30 links, 1 page".

    `is_whole`: every input was read; otherwise the text is never "no findings".
    """
    if is_whole and not any((links_found, urls_found, pages, differing, unread, wrong)):
        return f"no findings in {number(links, 'link')}" + (f" and {number(urls, 'old URL')}" if urls else "")
    found = [f"{links_found:,} of {number(links, 'link')}"]
    if urls:
        found.append(f"{urls_found:,} of {number(urls, 'old URL')}")
    others = ((pages, "page"), (differing, "differing answer"), (unread, "unread rule"), (wrong, "wrong rule"))
    found += [number(count, noun) for count, noun in others if count]
    return f"findings: {', '.join(found)}"


def fix_options(new_url: str | None) -> str:
    """Return the options that write the repairs: with `--url URL` if the URL of the site is not known."""
    return "--fix --url URL" if new_url is not None and new_url.startswith(PLACE) else "--fix"


def words(verdict: str) -> Verdict:
    """Return the row of a verdict; an unknown one, from a baseline, gets a row with its own name."""
    return _ROWS.get(verdict) or Verdict(verdict.capitalize(), f"The verdict is {verdict}.", "{reference}{url}")
