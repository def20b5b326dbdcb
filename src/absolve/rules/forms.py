"""Recognise the form of a map file, and read it.

In: the name and the bytes of a file. Out: a `RuleSet`. The name decides, else the content: whatever has the
directives of a server is its configuration, else words on lines or cells.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.errors import UsageError
from absolve.rules import apache, caddy, iis, line_forms, nginx, spreadsheet, structured
from absolve.rules.cells import binary_form, decoded, is_workbook
from absolve.rules.columns import is_url
from absolve.rules.model import MOST_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.rules.model import Rule, RuleSet

_READERS: Final[dict[str, Callable[[str, bytes], RuleSet]]] = {
    "apache": apache.read,
    "caddy": caddy.read,
    "cloudflare": line_forms.read_cloudflare,
    "iis": iis.read_iis,
    "netlify": line_forms.read_netlify,
    "nginx": nginx.read,
    "rewritemap": line_forms.read_rewrite_map,
    "squarespace": line_forms.read_squarespace,
    "s3-xml": iis.read_s3,
    **{form: structured.reader(form) for form in structured.FORMS},
}
FORMATS: Final = tuple(sorted([*_READERS, "csv"]))
_IN_WORDS: Final = (
    "a table (CSV or .xlsx: old URL, new URL), _redirects, a configuration of Apache (.htaccess), nginx or IIS, a"
    " Caddyfile, the text of a RewriteMap, netlify.toml, vercel.json, firebase.json or staticwebapp.config.json"
)
_LOOKED_AT: Final = 1 << 18
_SECTION: Final = (
    "<(?:VirtualHost|(?:Directory|Files|Location|Proxy)(?:Match)?|If(?:Define|Directive|File|Module|Section|Version)?"
    "|Else(?:If)?|Limit(?:Except)?|Macro|Require(?:All|Any|None)|Auth[nz]ProviderAlias)"
)
_JSON: Final = r"\A\s*[{\[]"
_HAS: Final = r'(?=(?s:.*)"(?:%s)")'
# The form of a file: by its name in lower case, otherwise by its text. The first that matches counts.
_BY_NAME: Final = {
    r"\.[ct]sv$": "csv",
    r"_redirects$": "netlify",
    r"\.htaccess": "apache",
    r"\.toml$": "netlify-toml",
    r"staticwebapp\.config\.json$": "azure",
    r"firebase\.json$": "firebase",
    r"vercel\.json$": "vercel",
    r"^caddyfile|\.caddy$": "caddy",
    r"web\.config$": "iis",
}
_BY_TEXT: Final = {
    re.compile(pattern, re.MULTILINE | re.IGNORECASE if form == "apache" else re.MULTILINE): form
    for pattern, form in (
        (_JSON + _HAS % "RoutingRules|KeyPrefixEquals", "s3"),
        (_JSON + _HAS % "action_data", "redirection"),
        (_JSON + _HAS % "hosting", "firebase"),
        (_JSON + _HAS % "route", "azure"),
        (_JSON + _HAS % "destination|src" + _HAS % "source|src", "vercel"),
        (r"^[ \t]*redir[ \t]+[^;{\n]*$", "caddy"),
        (r"\A\s*<(?s:.*?)<(?:\w+:)?RoutingRules?\b", "s3-xml"),
        (r"\A\s*(?=<)(?s:.*?)<(?:\w+:)?(?:(?:rewriteMap|httpRedirect|rewrite)s?|system\.webServer)\b", "iis"),
        (rf"^[ \t]*(?:Rewrite(?:Rule|Cond)|{_SECTION})[ \t>]", "apache"),
        (r"^[^#\n]*?(?:[{;]|^)[^\S\n]*(?:server|location|rewrite|return|map|if)\b[^#\n]*[{;]", "nginx"),
        (r"^[ \t]*(?:Redirect(?:Match|Permanent|Temp)?|Rewrite(?:Engine|Base|Map)|ServerName)[ \t>]", "apache"),
        (_JSON, "csv"),
        (r"^/\S*[ \t]+->[ \t]", "squarespace"),
    )
}
_STRUCTURED: Final = frozenset({"caddy", "iis", "s3-xml", *structured.FORMS})


def read(
    path: Path,
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002 - the option has this name
    hosts: Sequence[str] = (),
    new_first: bool = False,
) -> RuleSet:
    """Return the rules of a map file. A line that cannot be read is a rule with a problem.

    `hosts`: those of the old and the new site, if both are known: of two columns of URLs they choose the old one.
    `new_first`: of two columns that no word names, the first is the new one.
    Raise UsageError for an unknown format, and for more lines than have room in memory as rules.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"the format of a map is one of {', '.join(FORMATS)}, not {format!r}")
    if max(data.count(b"\n"), data.count(b"\r")) > MOST_RULES:
        raise UsageError(f"{path}: this map has more than {MOST_RULES:,} lines: one prefix may be many rules")
    form = recognised(path.name, data) if format is None or is_workbook(data) else format
    if form == "csv":
        _refuse(path, binary_form(data, decoded(data[:_LOOKED_AT])) if not is_workbook(data) else None)
        found = spreadsheet.read(str(path), data, hosts, new_first=new_first)
        return found._replace(data=b"" if is_workbook(data) else data)  # a workbook is written as CSV
    return _READERS[form](str(path), data)._replace(data=data)


# What people keep redirects in that is no map: by its first characters, by its name.
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
    (re.compile(r"[{\[]\s*[\"{\[\]}]"), "JSON without redirects"),
    (
        re.compile(
            r"---[^\S\n]*$|[\w-]++:[^\S\n]*+\n[^\S\n]*+(?:-[ ]|[\w-]+:)|/\S*:[^\S\n]+\S+$", re.MULTILINE
        ),
        "YAML",
    ),
)
_SUFFIXES: Final = {
    **dict.fromkeys((".xls", ".ods", ".numbers"), "a workbook that is no .xlsx"),
    **dict.fromkeys((".html", ".htm"), "HTML"),
    **dict.fromkeys((".json", ".jsonl"), "JSON"),
    **dict.fromkeys((".yaml", ".yml"), "YAML"),
    ".xml": "XML",
    ".toml": "TOML",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".php", ".py", ".vcl"), "a program"),
}


class NoRuleError(UsageError):
    """A file that may be a map has no line that is like a rule."""


def check(found: RuleSet) -> None:
    """Raise UsageError for a file of another form than a map; NoRuleError for one in which no line is like a rule."""
    text = decoded(found.data[:_LOOKED_AT])
    is_known = found.format in _STRUCTURED
    is_known = is_known or (found.format == "csv" and found.words.startswith("rows of JSON"))
    other = _other_form(Path(found.file).name.lower(), found.data, text) if not is_known else None
    _refuse(found.file, other, text[: len(text) - len(text.lstrip())].count("\n") + 1)
    if not any(_is_like(rule, found.format) for rule in found.rules):
        line, problem = next(((rule.line, f": {rule.problem}") for rule in found.rules), (1, ""))
        raise NoRuleError(f"{found.file}:{line}: no rule is in this map{problem}: a map is {_IN_WORDS}")


def _refuse(file: str | Path, other: str | None, line: int = 1) -> None:
    if other is not None:
        raise UsageError(f"{file}:{line}: this is {other}: a map is {_IN_WORDS}")


def _is_like(rule: Rule, form: str) -> bool:
    """Return whether a line is a rule, or was meant to be one: it has a directive, or begins with a path or a URL."""
    is_sure = form in {"apache", "nginx", *_STRUCTURED}
    return rule.problem is None or is_sure or rule.text.startswith(("/", "http:", "https:"))


def _other_form(name: str, data: bytes, text: str) -> str | None:
    """Return what a file is that is no map, in words; None for what may be one."""
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
    if (form := next((form for pattern, form in _BY_NAME.items() if re.search(pattern, name)), None)) is not None:
        return form
    text = decoded(data[:_LOOKED_AT])
    if name.endswith(".map"):
        return "nginx" if "{" in text or ";" in text else "rewritemap"
    return next((form for pattern, form in _BY_TEXT.items() if pattern.search(text)), None) or _by_lines(text)


def _has_header(rows: Sequence[str]) -> bool:
    """Return whether the first of two rows with tabs is a header, as in cells that were saved as text."""
    has_urls = [any(map(is_url, map(str.strip, row.split("\t")))) for row in rows[:2]]
    return has_urls == [False, True] and all("\t" in row for row in rows[:2])


def _by_lines(text: str) -> str:
    """Return the format of lines with words or cells: the status and splats of `_redirects` decide."""
    rows = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")][:100]
    if any(re.search(r"[,;\t]", line) and len(line.split()) < 2 for line in rows) or _has_header(rows):
        return "csv"
    if any(re.search(r"\*|:splat|/:\w|\s[1-5][0-9][0-9]!?\s*$", line) for line in rows):
        return "netlify"
    return "csv" if any("," in line for line in rows) else "rewritemap" if rows else "csv"
