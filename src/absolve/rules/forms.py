"""Recognise the form of a map file, and read it.

In: the name and the bytes of a file. Out: a `RuleSet`. The name decides, otherwise the content: directives of a
server, otherwise words on lines, or cells.

    >>> recognised("site.map", b"/a /b"), recognised("rules.txt", b"/a /b 301"), recognised("rules.txt", b"/a,/b")
    ('rewritemap', 'netlify', 'csv')
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.core.printable import is_hidden_in
from absolve.rules import apache, caddy, entries, iis, nginx, proxies, structured, table
from absolve.rules.cells import binary_form, decoded, is_workbook
from absolve.rules.columns import is_url
from absolve.rules.functions import HIDDEN, IS_HIDDEN
from absolve.rules.model import MOST_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.rules.model import RuleSet

_IN_WORDS: Final = (
    "a table (CSV, .xlsx, YAML: old URL, new URL), _redirects, a configuration of Apache (.htaccess), nginx, HAProxy or"
    " IIS, a Caddyfile, the text of a RewriteMap, netlify.toml, vercel.json, firebase.json or staticwebapp.config.json"
)
_LOOKED_AT: Final = 1 << 18
_URL_BEGINS: Final = ("/", "http:", "https:")
_SECTION: Final = (
    "<(?:VirtualHost|(?:Directory|Files|Location|Proxy)(?:Match)?|If(?:Define|Directive|File|Module|Section|Version)?"
    "|Else(?:If)?|Limit(?:Except)?|Macro|Require(?:All|Any|None)|Auth[nz]ProviderAlias)"
)
_DIRECTIVE: Final = "(?:Redirect(?:Match|Permanent|Temp)?|Rewrite(?:Engine|Base|Map)|ServerName)"
_BLOCK: Final = "(?:server|location|rewrite|return|map|if)"
_IIS: Final = r"(?:(?:rewriteMap|httpRedirect|rewrite)s?|system\.webServer)"
_HAPROXY: Final = r"^[ \t]*(?:http-request[ \t]+)?redirect[ \t]+(?:location|prefix|scheme|code)[ \t]"
_NONE: Final = r"(?!)"
_JSON: Final = r"\A\s*[{\[]"
_HAS: Final = r'(?=(?s:.*)"(?:%s)")'


class _Form(NamedTuple):
    """A form of maps: its reader, and the names in lower case or the text by which it is recognised.

    The name decides before the text; of both the first row that matches counts. `kind`: a file of "lines" may be any
    text, a directive of a "server" is hardly a chance, and a "structured" file is certain.
    """

    name: str
    read: Callable[[str, bytes], RuleSet]
    names: str = _NONE
    text: str = _NONE
    kind: Literal["lines", "server", "structured"] = "structured"


_FORMS: Final = (
    _Form("csv", table.read_map, r"\.(?:[ct]sv|ya?ml)$", kind="lines"),
    _Form("s3", structured.read_s3, text=_JSON + _HAS % "RoutingRules|KeyPrefixEquals"),
    _Form("redirection", structured.read_redirection, text=_JSON + _HAS % "action_data"),
    _Form("firebase", structured.read_firebase, r"firebase\.json$", _JSON + _HAS % "hosting"),
    _Form("azure", structured.read_azure, r"staticwebapp\.config\.json$", _JSON + _HAS % "route"),
    _Form("vercel", structured.read_vercel, r"vercel\.json$", _JSON + _HAS % "destination|src" + _HAS % "source|src"),
    _Form("netlify-toml", structured.read_netlify_toml, r"\.toml$"),
    _Form("netlify", entries.read_netlify, r"_redirects$", kind="lines"),
    _Form("cloudflare", entries.read_cloudflare, kind="lines"),
    _Form("caddy", caddy.read, r"^caddyfile|\.caddy$", r"^[ \t]*redir[ \t]+[^;{\n]*$"),
    _Form("s3-xml", iis.read_s3, text=r"\A\s*<(?s:.*?)<(?:\w+:)?RoutingRules?\b"),
    _Form("iis", iis.read_iis, r"web\.config$", rf"\A\s*(?=<)(?s:.*?)<(?:\w+:)?{_IIS}\b"),
    _Form("f5", proxies.read_f5, text=r"^[ \t]*ltm[ \t]+data-group[ \t]", kind="server"),
    _Form("haproxy", proxies.read_haproxy, text=_HAPROXY, kind="server"),
    _Form("apache", apache.read, r"\.htaccess", rf"(?i)^[ \t]*(?:Rewrite(?:Rule|Cond)|{_SECTION})[ \t>]", "server"),
    _Form("nginx", nginx.read, text=rf"^[^#\n]*?(?:[{{;]|^)[^\S\n]*{_BLOCK}\b[^#\n]*[{{;]", kind="server"),
    _Form("apache", apache.read, text=rf"(?i)^[ \t]*{_DIRECTIVE}[ \t>]", kind="server"),  # nginx may have one in a text
    _Form("csv", table.read_map, text=_JSON, kind="lines"),
    _Form("rewritemap", entries.read_rewrite_map, text=r"^\S+[ \t]+:=[ \t]", kind="lines"),
    _Form("squarespace", entries.read_squarespace, text=r"^/\S*[ \t]+->[ \t]", kind="lines"),
    _Form("rewritemap", entries.read_rewrite_map, kind="lines"),
)
_BY_NAME: Final = {form.name: form for form in _FORMS}
FORMATS: Final = tuple(sorted(_BY_NAME))


def read(
    path: Path,
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002 - the option has this name
    hosts: Sequence[str] = (),
    folder: str = "",
) -> RuleSet:
    """Return the rules of a map file. A line that cannot be read is a rule with a problem.

    `hosts`: the hosts of the old and the new site, if both are known; they distinguish two columns of URLs.
    `folder`: the path of the file's folder on the site, for example `/blog/`, if it is known.
    Raise UsageError for an unknown format, and for more than MOST_RULES lines.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"the format of a map is one of {', '.join(FORMATS)}, not {format!r}")
    if max(data.count(b"\n"), data.count(b"\r")) > MOST_RULES:
        raise UsageError(f"{path}: this map has more than {MOST_RULES:,} lines: one prefix may be many rules")
    form = recognised(path.name, data) if format is None or is_workbook(data) else format
    if form == "csv":
        _refuse(path, binary_form(data, decoded(data[:_LOOKED_AT])) if not is_workbook(data) else None)
        return table.read_map(str(path), data, hosts)._replace(data=data)
    read_form = partial(apache.read, folder=folder) if form == "apache" else _BY_NAME[form].read
    return read_form(str(path), data)._replace(data=data)


def swapped(found: RuleSet, hosts: Sequence[str] = ()) -> RuleSet:
    """Return the rules of a table again, with the first of two unnamed columns as the new URL."""
    return table.read_map(found.file, found.data, hosts, new_first=True)._replace(data=found.data)


# Files that people keep redirects in, but which are not maps: by their first characters, by their names.
_TEXT: Final = (
    (re.compile(r"<!DOCTYPE\s+html|<html\b", re.IGNORECASE), "HTML"),
    (re.compile(rf"<(?!{_SECTION[1:]}|/)", re.IGNORECASE), "XML"),
    (
        re.compile(
            r"(?>(?:[^\S\n]*+(?:#[^\n]*+)?\n|[\w.-]++[^\S\n]*+=[^\n]*+\n)*)[^\S\n]*+\[\[?[\w.\"-]+\]\]?[^\S\n]*+$",
            re.MULTILINE,
        ),
        "TOML or INI",
    ),
    (re.compile(r'\{\s*"(?:batchcomplete|continue|query)"'), "a list of titles of MediaWiki (save their URLs as CSV)"),
    (re.compile(r"[{\[]\s*[\"{\[\]}]"), "JSON without redirects"),
    (re.compile(r"(?i:--[ ].*\bdump\b|INSERT\s+INTO\b)"), "SQL (save its table as CSV)"),
    (re.compile(r"(?s:.*?)(?m:^)[^#\n]*\burl\.redirect[ \t]*\+?="), "lighttpd (save its redirects as CSV)"),
    (re.compile(r"(?>(?:\s+|#[^\n]*)*)when\s+[A-Z_]+\b[^{\n]*\{"), "an iRule, a program (save its redirects as CSV)"),
    (
        re.compile(r"---[^\S\n]*$|[\w-]++:[^\S\n]*+\n[^\S\n]*+(?:-[ ]|[\w-]+:)|/\S*:[^\S\n]+\S+$", re.MULTILINE),
        "YAML (give it the suffix .yaml)",
    ),
)
_SUFFIXES: Final = {
    **dict.fromkeys((".xls", ".ods", ".numbers"), "a workbook that is no .xlsx"),
    **dict.fromkeys((".html", ".htm"), "HTML"),
    **dict.fromkeys((".json", ".jsonl"), "JSON"),
    ".sql": "SQL (save its table as CSV)",
    ".xml": "XML",
    ".toml": "TOML",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".php", ".py", ".vcl"), "a program"),
}


class NoRuleError(UsageError):
    """A file that may be a map has no line that looks like a rule."""


def check(found: RuleSet) -> None:
    """Raise UsageError for a file that is not a map, for example HTML; NoRuleError if no line looks like a rule."""
    text = decoded(found.data[:_LOOKED_AT])
    is_known = _BY_NAME[found.format].kind == "structured" or is_workbook(found.data)
    is_known = is_known or (found.format == "csv" and found.words.startswith("rows of "))
    other = _other_form(Path(found.file).name.lower(), found.data, text) if not is_known else None
    _refuse(found.file, other, text[: len(text) - len(text.lstrip())].count("\n") + 1)
    is_sure = _BY_NAME[found.format].kind != "lines"
    if not any(rule.problem is None or is_sure or rule.text.startswith(_URL_BEGINS) for rule in found.rules):
        line, problem = next(((rule.line, f": {rule.problem}") for rule in found.rules), (1, ""))
        raise NoRuleError(f"{found.file}:{line}: no rule is in this map{problem}: a map is {_IN_WORDS}")


def _refuse(file: str | Path, other: str | None, line: int = 1) -> None:
    if other is not None:
        raise UsageError(f"{file}:{line}: this is {other}: a map is {_IN_WORDS}")


def _other_form(name: str, data: bytes, text: str) -> str | None:
    """Return the kind of a file that is not a map, in words, for example "YAML"; None for a file that may be one."""
    if (binary := binary_form(data, text)) is not None:
        return binary
    bare = text.lstrip()
    for pattern, words in _TEXT:
        if pattern.match(bare):
            return words
    return next((words for suffix, words in _SUFFIXES.items() if name.endswith(suffix)), None)


def recognised(name: str, data: bytes) -> str:
    """Return the format of a map by its name, otherwise by its content."""
    name = name.lower()
    if is_workbook(data):
        return "csv"
    if (form := next((form.name for form in _FORMS if re.search(form.names, name)), None)) is not None:
        return form
    text = decoded(data[:_LOOKED_AT])
    if name.endswith(".map"):
        return "nginx" if "{" in text or ";" in text else "rewritemap"
    by_text = (form.name for form in _FORMS if re.search(form.text, text, re.MULTILINE))
    return next(by_text, None) or _by_lines(text)


def _has_header(rows: Sequence[str]) -> bool:
    """Return whether the first of two rows with tabs is a header, as in cells that were saved as text."""
    has_urls = [any(map(is_url, map(str.strip, row.split("\t")))) for row in rows[:2]]
    return has_urls == [False, True] and all("\t" in row for row in rows[:2])


def _by_lines(text: str) -> str:
    """Return the format of lines with words or cells; a status, a splat or a placeholder means `_redirects`."""
    rows = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")][:100]
    if any(re.search(r"[,;\t|]", line) and len(line.split()) < 2 for line in rows) or _has_header(rows):
        return "csv"
    if any(re.search(r"\*|:splat|/:\w|\s[1-5][0-9][0-9]!?\s*$", line) for line in rows):
        return "netlify"
    return "csv" if any("," in line for line in rows) else "rewritemap" if rows else "csv"


def doubts(found: RuleSet) -> Iterator[Diagnostic]:
    """Yield the rules that lead to a URL nobody can read."""
    for rule in found.rules:
        target = "".join(part for part in rule.target or () if isinstance(part, str))
        if is_hidden_in(target):
            yield Diagnostic(HIDDEN, f"{IS_HIDDEN}: {in_short(target)}", rule.file, rule.line)
