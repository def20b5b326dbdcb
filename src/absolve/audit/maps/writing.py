"""Write all maps as one, in the form of any server: chains flattened, rules added.

In: `Rules`, and pairs of old and new URLs to add. Out: the bytes of a map. A map that has this form already keeps its
text: only the targets of rules in a chain are changed. Rules of other forms are converted; a comment has each that
the form cannot express.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps import forms
from absolve.audit.maps.flattening import DROPPED, Flat, Flattening
from absolve.audit.maps.in_place import edited
from absolve.audit.maps.model import EXACT, PREFIX, REGEX, Rule, RuleSet
from absolve.audit.maps.request import request
from absolve.audit.maps.rules import never
from absolve.audit.maps.spreadsheet import may_be_joined, recognisable, with_rest
from absolve.core.errors import UsageError
from absolve.core.patterns import backtracks
from absolve.core.printable import printable
from absolve.tables.text import UTF8, charset_of, decoded
from absolve.urls.predicates import parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from absolve.audit.maps.rules import Rules
    from absolve.tables.text import Charset

_LINES: Final[dict[str, Callable[[Rule], list[str] | None]]] = {
    "apache": forms.apache_lines,
    "cloudflare": forms.cloudflare_lines,
    "csv": forms.csv_lines,
    "netlify": forms.netlify_lines,
    "nginx": forms.nginx_lines,
    "rewritemap": forms.rewrite_map_lines,
    **forms.OF_HOSTS,
}
_FORMS: Final = ", ".join(sorted(_LINES))
_NAMES: Final = "map.csv, _redirects, .htaccess, apache.conf, nginx.conf, Caddyfile, web.config, map.txt or vercel.json"
_WITH_PCRE: Final = frozenset({"apache", "nginx"})
_WITH_SIGN: Final = frozenset({"csv", "netlify"})
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*)(?::[0-9]+)?")
_BY_NAME: Final = (
    ("_redirects", "netlify"),
    (".csv", "csv"),
    ("netlify.toml", "netlify-toml"),
    ("vercel.json", "vercel"),
    ("firebase.json", "firebase"),
    ("staticwebapp.config.json", "azure"),
    ("web.config", "iis"),
    ("caddyfile", "caddy"),
    (".htaccess", "apache"),
    (".txt", "rewritemap"),
)
_BY_PART: Final = (("apache", "apache"), ("httpd", "apache"), ("nginx", "nginx"))


class Written(NamedTuple):
    """A map: its bytes, and the rules that it lacks, each with the reason."""

    data: bytes
    left_out: list[tuple[Rule, str]]


def form_of(path: Path) -> str:
    """Return the format for a file to be written, by its name. Raise UsageError if the name does not say."""
    name = path.name.lower()
    for end, form in _BY_NAME:
        if name.endswith(end) or (end == ".htaccess" and end in name):
            return form
    named = {form for part, form in _BY_PART if part in name} or ({"nginx"} if name.endswith(".map") else set())
    if len(named) == 1:
        return named.pop()
    if name.endswith(".conf"):
        raise UsageError(f"{path.name!r} may be of Apache or nginx: name it apache.conf or nginx.conf")
    raise UsageError(f"the name {path.name!r} does not say the format of the map: give one such as {_NAMES}")


def form_like(form: str) -> str:
    """Return the format in which a map of a form is written: CSV where rules have no text in that form."""
    return form if form in _LINES else "csv"


def added_rule(rules: Rules, old: str, new: str, *, prefix: bool = False) -> Rule | None:
    """Return the rule that leads the path of an old URL, or all below it, to a new one; None for no http URL.

    Its target is a path only where both sites have one host: on another one, a path would stay there.
    """
    asked = request(old)
    if asked is None:
        return None
    source = asked.decoded + ("" if asked.query is None else f"?{asked.query}")
    target = new
    if rules.is_one_host and rules.is_new(new):
        start = new.find("/", new.find("://") + 3)
        target = new[start:] if start >= 0 else "/"
        if target.startswith("//"):  # alone, that would name another host
            target = new
    rule = Rule("", 0, f"{old} -> {new}", source=source, target=(target,))
    return rule._replace(how=PREFIX, source=asked.decoded, target=with_rest(target, asked.decoded)) if prefix else rule


def _as_weak_as_possible(form: str, rules: Rules, rule: Rule, old: str) -> Rule:
    """Return an added rule without force (`301!`) in forms that have the sign, unless a file is in its way."""
    return rule if form not in _WITH_SIGN else rule._replace(forced=rules.exists(rules.counterpart(old)))


def with_added(
    form: str, rules: Rules, pairs: Iterable[tuple[str, str]], *, prefix: bool = False
) -> tuple[Rules, list[Rule]]:
    """Return the rules with those to add for pairs of old and new URLs before them, and those to add."""
    made = ((old, added_rule(rules, old, new, prefix=prefix)) for old, new in pairs)
    added = [_as_weak_as_possible(form, rules, rule, old) for old, rule in made if rule is not None]
    return rules.behind(RuleSet("", form, added)), added


def rule_text(form: str, rules: Rules, old: str, new: str, *, prefix: bool = False) -> str | None:
    """Return the text of the rule to add to a map of this format; None if the format cannot express it.

    `prefix`: a rule for a folder with all in it.
    """
    _, added = with_added(form, rules, [(old, new)], prefix=prefix)
    lines = _LINES[form_like(form)](added[0]) if added else None
    return "\n".join(lines) if lines else None


def written(form: str, rules: Rules, added: Iterable[tuple[str, str]] = ()) -> Written:
    """Return all maps in one form, the added rules first: a catch-all would keep them from being applied.

    Raise UsageError for an unknown format.
    """
    if form not in _LINES:
        raise UsageError(f"a map is written as one of {_FORMS}, not {form!r}")
    left_out: list[tuple[Rule, str]] = []
    pairs = list(added)
    tried, _ = with_added(form, rules, pairs)
    is_known = rules.exists is not never
    pairs = [pair for pair in pairs if not is_known or tried.chain(pair[0]).final == pair[1]]
    behind, new = with_added(form, rules, pairs)
    flattening = Flattening(behind)
    first = _converted(form, [Flat(rule) for rule in new], left_out)
    texts: list[str] = []
    charsets: list[Charset] = []
    is_joined = form == "csv" and len(rules.sets) > 1
    for found in rules.sets:
        flat = flattening.of_set(found)
        keeps = found.format == form and bool(found.data) and form not in forms.OF_HOSTS
        if keeps and (not is_joined or may_be_joined(decoded(found.data, legacy=True), is_first=not texts)):
            texts.append(edited(found, flat, _LINES[form], first))
            left_out += [(one.rule, one.left_out) for one in flat if one.left_out in DROPPED]
            charsets.append(charset_of(found.data, legacy=form == "csv"))
            first = []
        elif form == "nginx":
            texts.append(_servers(found.is_slash_ignored, flat, first, left_out))
            first = []
        else:
            texts.append(
                "\n".join(
                    [*_head(form), *first, *_converted(form, _doubled(flat, found.is_slash_ignored, form), left_out)]
                )
            )
            first = []
    if not texts:
        texts.append("\n".join([*_head(form), *first]))
    if form in forms.FRAMES:
        start, between, end = forms.FRAMES[form]
        lines = [line for text in texts for line in text.split("\n") if line]
        return Written((start + between.join(lines) + end).encode(), left_out)
    text = "".join(text if text.endswith(("\n", "\r")) else f"{text}\n" for text in texts)
    text = recognisable(text, ",", "\n") if is_joined else text
    return Written(_common(charsets, len(texts)).encoded(text), left_out)


def _common(charsets: Sequence[Charset], number: int) -> Charset:
    """Return the charset of maps that keep their texts, if they are all of this number; else UTF-8."""
    first = charsets[0] if charsets else UTF8
    is_one = len(charsets) == number and all(one.name == first.name for one in charsets)
    return first if is_one or first.name == UTF8.name else UTF8


def _head(form: str) -> list[str]:
    return ["RewriteEngine On"] if form == "apache" else []


def _doubled(flat: Sequence[Flat], is_slash_ignored: bool, form: str) -> list[Flat]:
    """Return exact rules also with the other slash at the end, if their own map ignores it and the form does not."""
    if not is_slash_ignored or form == "netlify":
        return list(flat)
    found: list[Flat] = []
    for one in flat:
        found.append(one)
        path, mark, query = one.rule.source.partition("?")
        if one.left_out is None and one.rule.how == EXACT and path != "/":
            other = path.rstrip("/") if path.endswith("/") else f"{path}/"
            found.append(one._replace(rule=one.rule._replace(source=f"{other}{mark}{query}")))
    return found


def _converted(form: str, flat: Iterable[Flat], left_out: list[tuple[Rule, str]]) -> list[str]:
    """Return the lines of rules in a form; add those that it cannot express to `left_out`."""
    lines: list[str] = []
    for rule, known, _ in flat:
        reason = known or _unfit(rule)
        if reason is None and form in _WITH_PCRE and rule.how == REGEX and backtracks(rule.source):
            reason = f"{form} matches by PCRE, which may need much more than linear time for this pattern"
        made = _LINES[form](rule) if reason is None and rule.is_plain else None
        if made is not None:
            lines += made
            continue
        left_out.append((rule, reason or f"{form} cannot express it"))
        if form != "csv" and form not in forms.FRAMES:
            lines.append(_comment(f"{rule.place}: {left_out[-1][1]}: {rule.text}"))
    return lines


def _comment(text: str) -> str:
    """Return a comment of one line. In Apache a backslash at its end would make the next line a part of it."""
    text = printable(" ".join(text.split()))
    return f"# {text} ." if text.endswith("\\") else f"# {text}"


def _unfit(rule: Rule) -> str | None:
    """Return why no map can have a rule: its host could end a line or a block, or its target runs code."""
    if rule.host is not None and not _HOST.fullmatch(rule.host):
        return "its host is no name of a host"
    if rule.target and isinstance(rule.target[0], str) and parsed_scheme(rule.target[0]) not in {None, "http", "https"}:
        return "its target is no http or https URL"
    return None


def _servers(is_slash_ignored: bool, flat: Sequence[Flat], first: list[str], left_out: list[tuple[Rule, str]]) -> str:
    """Return server blocks for nginx: one for each host that rules name; without hosts no block is needed."""
    unfit = [(one.rule, reason) for one in flat if one.rule.host is not None and (reason := _unfit(one.rule))]
    left_out += unfit
    flat = _doubled([one for one in flat if one.rule.host is None or not _unfit(one.rule)], is_slash_ignored, "nginx")
    hosts = dict.fromkeys(one.rule.host for one in flat if one.rule.host is not None)
    if not hosts:
        return "\n".join([*first, *_converted("nginx", flat, left_out)])
    lines: list[str] = []
    for host in (None, *hosts):
        own = [one._replace(rule=one.rule._replace(host=None)) for one in flat if one.rule.host in {None, host}]
        missing: list[tuple[Rule, str]] = []
        name, _, port = (host or "_").partition(":")
        lines += ["server {", *([f"    listen {port};"] if port else []), f"    server_name {name};"]
        lines += [f"    {line}" for line in [*first, *_converted("nginx", own, missing)]]
        lines.append("}")
        own_lines = {(one.rule.file, one.rule.line) for one in flat if one.rule.host == host}
        left_out += [(rule, reason) for rule, reason in missing if (rule.file, rule.line) in own_lines]
    return "\n".join(lines)
