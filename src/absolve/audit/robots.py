r"""Find the pages that search engines may not index.

In: the tables of both sites, and a reader of their files. Out: the table `closed`: a page is closed by a robots meta
element, X-Robots-Tag, a field that a file of its host or server sets, or a rule of robots.txt (RFC 9309), in the group
for Googlebot, otherwise for all robots.

    >>> [(pattern, rule.text) for pattern, rule in headers_rules(b"/draft/*\n  X-Robots-Tag: noindex", "h/_headers")]
    [('/draft/*$', 'X-Robots-Tag: noindex')]
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.judge import each, insert, one
from absolve.core.errors import Diagnostic, UsageError
from absolve.rules import cells as table_text
from absolve.rules.apache import directives
from absolve.rules.structured import dicts, parse_text
from absolve.urls.access import Rule, Rules, of_robots
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from absolve.audit import texts

_ROBOT: Final = "googlebot"
_NOT_INDEXED: Final = re.compile(r"(?:^|,)\s*(?:googlebot:\s*)?(?:noindex|none)\s*(?:$|,)", re.IGNORECASE)
_TAG: Final = re.compile("x-robots-tag", re.IGNORECASE)
_APACHE: Final = re.compile(
    r"""Header\s+(?:(?:always|onsuccess)\s+)?(set|append|add|merge|setifempty|unset)\s+"?X-Robots-Tag:?"?"""
    r"""(?:\s+("[^"]*"|'[^']*'|\S+)(\s.*)?)?""",  # and a condition
    re.IGNORECASE | re.DOTALL,
)
_HTACCESS: Final = ".htaccess"  # is read in every folder
_FOR_ALL: Final = frozenset({"ifmodule", "ifversion"})  # sections of Apache that concern all pages
_UNJUDGED: Final = "this keeps pages out of the index on a condition, which is not judged"
_ANY: Final = re.compile(r"\(\.\*\)|:\w+\*", re.ASCII)  # of path-to-regexp
_PAGES: Final = """
SELECT r.resource, r.path, d.robots FROM resources r
JOIN scopes s ON s.side = r.side AND s.site = r.site AND s.is_main
JOIN {side}_documents d ON d.document = r.document AND d.entity = r.entity
WHERE r.side = ? AND r.is_page AND r.media_type IS NOT NULL
"""


Found = tuple[str | None, Rule]  # with the pattern of its paths, None for a rule with a condition that is not judged


def headers_rules(data: bytes, at: str) -> Iterator[Found]:
    """Yield the rules of a `_headers` file (Netlify, Cloudflare Pages) with an X-Robots-Tag against indexing.

    A path may be for another host: for example, `https://:project.pages.dev/*` concerns previews only.
    """
    pattern: str | None = None
    for number, text in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        if not text[:1].isspace():
            pattern = _pattern(text.strip(), at)
            continue
        name, _, value = (part.strip() for part in text.partition(":"))
        if pattern is not None and name.lower() == "x-robots-tag" and is_shut(value):
            yield pattern, Rule(number, text.strip())


def _pattern(text: str, at: str) -> str | None:
    """Return the pattern for a path, for example `/a/*$` for `/a/:id`; None for a path of another host."""
    host = at.partition("/")[0]
    found = re.fullmatch(r"(?:https?://([^/]*))?(/\S*)", text)
    if found is None or (found[1] is not None and found[1].lower() != host):
        return None
    return re.sub(r":[A-Za-z]\w*", "*", found[2]) + "$"


def apache_rules(data: bytes, at: str) -> list[Found]:
    """Return the rules of a `.htaccess` file with an X-Robots-Tag, for its folder: for example, `Header set ...`."""
    folder = f"/{decoded(at.partition('/')[2])}".removesuffix(_HTACCESS)
    rules: list[Found] = []
    for directive in directives(data):
        found = _APACHE.fullmatch(directive.text)
        if found is None:
            continue
        is_out = is_shut((found[2] or "").strip("\"'"))
        has_condition = found[3] or any(section.name not in _FOR_ALL for section in directive.sections)
        rule = Rule(directive.line, directive.text, not is_out)
        if has_condition:
            rules += [(None, rule)] if is_out else []
            continue
        if is_set := found[1].lower() in {"set", "unset"}:
            rules = [known for known in rules if known[0] is None]
        if is_set or is_out:
            rules.append((folder, rule))
    return rules


def vercel_rules(data: bytes, at: str) -> Iterator[Found]:
    """Return the rules of a `vercel.json` with an X-Robots-Tag against indexing, for example for `/a/(.*)`."""
    return _table_rules(data, at, is_toml=False)


def netlify_rules(data: bytes, at: str) -> Iterator[Found]:
    """Return the rules of a `netlify.toml`, for example with `for = "/a/*"`, and an X-Robots-Tag against indexing."""
    return _table_rules(data, at, is_toml=True)


def _table_rules(data: bytes, at: str, *, is_toml: bool) -> Iterator[Found]:
    text = table_text.decoded(data)
    try:
        table = parse_text("", text, is_toml=is_toml)
    except UsageError:  # the run has read the file as a map, and reported it
        return
    lines = (text.count("\n", 0, found.start()) + 1 for found in _TAG.finditer(text))
    for entry in dicts(table, "headers"):
        path = str(entry.get("for")) if is_toml else _ANY.sub("*", str(entry.get("source")))
        is_known = is_toml or not (re.search(r"[(){}|+?\\]", path) or entry.keys() & {"has", "missing"})
        pattern = _pattern(path, at) if is_known else None
        values = entry.get("values") if is_toml else {
            str(field.get("key")): field.get("value") for field in dicts(entry, "headers")
        }
        for name, value in values.items() if isinstance(values, dict) else ():
            if name.lower() == "x-robots-tag":
                line = next(lines, 1)
                if is_shut(str(value)) and (pattern is not None or not is_known):
                    yield pattern, Rule(line, f"{name}: {value}")


def is_shut(robots: str) -> bool:
    """Return whether a robots meta element or X-Robots-Tag keeps a page out of the index: for example `noindex`."""
    return _NOT_INDEXED.search(robots) is not None


FILES: Final = {  # in the root of a site, `.htaccess` in any folder
    "_headers": headers_rules, ".htaccess": apache_rules, "vercel.json": vercel_rules, "netlify.toml": netlify_rules,
}


def find(
    connection: Any,
    read: Callable[[str, str], Iterable[texts.Found]],
    notify: Callable[[Diagnostic], None],
    unread: Collection[str] = frozenset(),
) -> None:
    """Fill the table `closed` with the pages of both sites that search engines may not index, and the reason.

    `notify` is called for rules with a condition for the new site, which are not judged. `unread`: names of `FILES`
    that the server of the new site does not read.
    """
    sides = {"new": [name for name in FILES if name not in unread], "old": list(FILES)}
    closed = (_closed(connection, read, side, names, notify) for side, names in sides.items())
    insert(connection, "closed", chain.from_iterable(closed))


def _closed(
    connection: Any,
    read: Callable[[str, str], Iterable[texts.Found]],
    side: str,
    names: Sequence[str],
    notify: Callable[[Diagnostic], None],
) -> Iterator[tuple[str, int, str]]:
    found = _files(connection, read, side, names)
    for rule in (rule for rules in found for pattern, rule in rules if pattern is None and side == "new"):
        notify(Diagnostic("noindex", f"{_UNJUDGED}: {rule.text}", rule.document, rule.line))
    files = [Rules((pattern, rule) for pattern, rule in rules if pattern is not None) for rules in found]
    for resource, path, robots in each(connection, _PAGES.format(side=side), [side]):
        if robots is not None and is_shut(robots):
            yield side, resource, f'its robots meta element or X-Robots-Tag is "{robots}"'
            continue
        for rule in filter(None, (rules(path) for rules in files)):
            yield side, resource, f'{rule.document}, line {rule.line}: "{rule.text}"'
            break


def _files(
    connection: Any, read: Callable[[str, str], Iterable[texts.Found]], side: str, names: Sequence[str]
) -> list[list[Found]]:
    """Return the rules of the files for the main site of a side, grouped by the file name."""
    kinds: dict[str, list[Found]] = {}
    scope = connection.execute("SELECT site, prefix FROM scopes WHERE side = ? AND is_main", [side]).fetchall()
    pattern = "|".join(map(re.escape, ("robots.txt", *names)))
    for site, prefix in scope:
        for found in read(side, f"regexp_matches(path, '/({pattern})$')"):
            (at,) = one(connection, "SELECT site || path FROM resources WHERE resource = ?", [found.resource])
            name = at.rpartition("/")[2]
            rules: Iterable[Found] = []
            if at == f"{site}/robots.txt":
                rules = of_robots(found.data, _ROBOT).rules
            elif name in names and at.startswith(site + prefix) and name in {_HTACCESS, at[len(site + prefix) :]}:
                rules = FILES[name](found.data, at)
            kinds.setdefault(name, []).extend((where, rule._replace(document=found.document)) for where, rule in rules)
    return list(kinds.values())
