"""Describe verdicts in words: for rules of SARIF, messages, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.tables import PLACE
from absolve.core.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterator


class Words(NamedTuple):
    """`name`: a short title. `meaning`: a sentence for the rule. `message`: a template for one finding.

    `repair`: what to do where no fix and no rule is known. `severity`: SEVERITIES has the words.
    """

    name: str
    meaning: str
    message: str
    repair: str = ""
    severity: int = 0


SEVERITIES: Final = (
    "Visitors or search engines meet an error",
    "Leads by a detour, or elsewhere than before",
    "To know: no reason to wait",
)


VERDICTS: Final = {
    "ok": Words("Fine", "The target is there.", "{reference}"),
    "same": Words("Same document", "The link leads to its own document.", "{reference}"),
    "external": Words("External", "The link leads to another site, which is not judged, or works.", "{reference}"),
    "malformed": Words(
        "Malformed", "The reference is no URL.", "{reference} is no URL", "Correct the URL.",
    ),
    "unresolved": Words(
        "Unresolved", "There is no base URL for a relative reference.",
        "{reference} has no base URL to resolve it", "Give the page a base URL: --url, or a base element.",
    ),
    "placeholder": Words(
        "Placeholder", "The reference has a mark of a template that no program has filled in.",
        "{reference} is a placeholder", "Run the program that fills in the template.",
    ),
    "divergent": Words(
        "Divergent", "The RFCs and browsers disagree where the link leads.",
        "the RFCs and browsers disagree where {reference} leads", "Write the link as an absolute URL.", 1,
    ),
    "leftover": Words(
        "Leftover", "The link names the old site.", "{reference} names the old site",
        "Write the URL on the new site.", 1,
    ),
    "local": Words(
        "Local", "The link leads to the machine that the site was made on.",
        "{reference} leads to the own machine", "Write the public URL.",
    ),
    "mixed": Words(
        "Mixed content", "An https page loads this by http: browsers block it.",
        "{reference} is loaded by http", "Load it by https.",
    ),
    "insecure": Words(
        "Insecure", "A link to a page of the own host uses http.", "{reference} uses http", "Write https.", 1,
    ),
    "loop": Words(
        "Redirect loop", "Redirects lead in a circle.", "the redirects of {reference} lead in a circle",
        "Correct the redirects.",
    ),
    "chain": Words(
        "Redirect chain", "The target is reached by more than one redirect.",
        "{reference} takes {hops} redirects", "Write the last URL, and join the redirects.", 1,
    ),
    "redirected": Words(
        "Redirected", "The target is reached by a redirect.", "{reference} is redirected",
        "Write the URL that the redirect leads to.", 1,
    ),
    "case": Words(
        "Letter case", "The target is there in other letter case.", "{reference} has other letter case",
        "Write the name in the letter case of the file.",
    ),
    "slash": Words(
        "Slash", "The target is there with or without the slash at its end.",
        "{reference} differs in the slash at its end", "Write the URL of the page that is there.", 1,
    ),
    "encoding": Words(
        "Encoding", "The target is there in another Unicode or percent form.",
        "{reference} is written in another form", "Write the URL as the file is named.", 1,
    ),
    "fragment": Words(
        "Missing place", "The document is there, the place in it is not.",
        "the place that {reference} leads to is not there", "Restore the id, or change the fragment.", 1,
    ),
    "unsure": Words(
        "Unsure", "A server did not answer whether the target is there.",
        "it is not known whether {reference} works", "Open the URL in a browser.", 1,
    ),
    "broken": Words(
        "Broken", "The target is not there.", "the target of {reference} is not there",
        "Replace the link, or remove it; on this site add the page, or a rule for its URL.",
    ),
    "kept": Words("Kept", "The old URL is there, with its content.", "{url}"),
    "mapped": Words("Mapped", "A rule leads the old URL to a page that is there.", "{url}"),
    "moved": Words(
        "Moved", "The content of the old URL is elsewhere, and no rule leads to it.", "{url} has no rule",
        "Add the rule of each: --write-map writes them.",
    ),
    "replaced": Words(
        "Replaced", "The old URL leads to a page with other content.", "{url} has other content now",
        "Decide which page the readers of the old URL should get.", 1,
    ),
    "gone": Words("Gone", "The map states that the old URL is gone.", "{url}"),
    "lost": Words(
        "Lost", "The old URL leads nowhere.", "{url} leads nowhere",
        "Add a rule, or state in the map that the page is gone (410).",
    ),
    "noindex": Words(
        "Not indexed", "Search engines may not index the page.", "search engines may not index {url}",
        "Remove noindex before the launch, if it is not meant.",
    ),
    "orphan": Words(
        "Orphan", "No link and no sitemap leads to the page.", "nothing leads to {url}",
        "Link to the page, or remove it.", 1,
    ),
    "canonical": Words(
        "Canonical", "The canonical link of the page contradicts.", "the canonical link of {url} contradicts",
        "Write the page's own new URL.", 1,
    ),
    "hreflang": Words(
        "Languages", "The links to other languages contradict.",
        "the links of {url} to other languages contradict", "List the same languages on each of the pages.", 1,
    ),
    "sitemap": Words(
        "Sitemap", "The sitemap lists a URL that it should not list.", "the sitemap should not list {url}",
        "Write the sitemap again, with the final URLs.", 1,
    ),
    "duplicate": Words(
        "Duplicate", "The same content has two URLs, and no canonical link.",
        "{url} has the content of another URL", "Add a canonical link to one of the two, or redirect it.", 1,
    ),
    "changed": Words(
        "Changed",
        "A page of the old site stayed, with another title, language, canonical or the like.",
        "{url} has changed",
    ),
    "differs": Words(
        "Differs", "A server does not answer as the maps and the files have it.",
        "the server answers {url} otherwise", "Correct the configuration of the server, or the map.",
    ),
    "unread-rule": Words(
        "Unread rule", "A rule of the map could not be read, and was not used.", "{detail}: {reference}",
        "Correct the line: no link and no URL was judged by it.",
    ),
    "wrong-rule": Words(
        "Wrong rule", "A rule of the map never applies, or leads in a circle, to another rule, or to nothing.",
        "{detail}: {reference}", "Correct the rule, or remove it.",
    ),
}


_OF_RULES: Final = {
    "loop": "this rule leads in a circle (loop)",
    "chain": "another rule moves the target of this one on (chain): --write-map joins them",
    "leads to http": "this rule leads to this site by http, which is https",
    "leads to nothing": "this rule moves a URL to where nothing is",
    "hidden by a file": "this rule never applies: the new site has a file of this path",
}


HIDDEN: Final = "wrong-rule:hidden by an earlier rule"  # a cause: that rule is another one each time


def of_rule(problem: str | None, finding: str | None) -> str:
    """Return a sentence about a rule: why it could not be read, or what is wrong with it."""
    if problem is not None or finding is None:
        return problem or ""
    word, _, line = finding.rpartition(" ")
    place = f"line {line}" if line.isdigit() else line
    return _OF_RULES.get(finding) or f"this rule never applies: it {'is ' * word.startswith('shadowed')}{word} {place}"


def titles() -> Iterator[tuple[str, str]]:
    """Yield the titles of causes of pages and rules, by the verdict, or by what is wrong with the rules."""
    yield from ((verdict, found.meaning) for verdict, found in VERDICTS.items())
    for finding in _OF_RULES:
        yield f"wrong-rule:{finding}", f"A wrong rule of the map: {of_rule(None, finding).removeprefix('this rule ')}"
    yield HIDDEN, "A wrong rule of the map: an earlier rule has its URLs"


def counted(
    links: int,
    of_links: int,
    urls: int,
    of_urls: int,
    pages: int,
    differing: int,
    unread: int,
    wrong: int,
    *,
    is_whole: bool = True,
) -> str:
    """Return the counts of findings in words: those of links and old URLs, of all of them, and those of others.

    `is_whole`: all was read that was given; without that, nothing found is not "no findings".
    """
    if is_whole and not any((of_links, of_urls, pages, differing, unread, wrong)):
        return f"no findings in {number(links, 'link')}" + (f" and {number(urls, 'old URL')}" if urls else "")
    found = [f"{of_links:,} of {number(links, 'link')}"]
    if urls:
        found.append(f"{of_urls:,} of {number(urls, 'old URL')}")
    others = ((pages, "page"), (differing, "differing answer"), (unread, "unread rule"), (wrong, "wrong rule"))
    found += [number(count, noun) for count, noun in others if count]
    return f"findings: {', '.join(found)}"


def fix_options(new_url: str | None) -> str:
    """Return the options that write the repairs: with a URL for a site of which none is known."""
    return "--fix --url URL" if new_url is not None and new_url.startswith(PLACE) else "--fix"


def words(verdict: str) -> Words:
    """Return the words of a verdict; for one that is not known, its own name."""
    return VERDICTS.get(verdict) or Words(verdict.capitalize(), f"The verdict is {verdict}.", "{reference}{url}")
