"""Write all maps as one, as CSV, `_redirects`, or the redirects of Apache or nginx: chains flattened, rules added.

In: `Rules`, and pairs of old and new URLs to add. Out: the bytes of a map. For example, `/a,/b` and `/b,/c` become
`/a,/c` and `/b,/c`. A first map in CSV or `_redirects` keeps its text: only rows in a chain are changed, and rows are
added. All other rules are written in the form; a rule that it cannot express becomes a comment, and a note names it. A
configuration contains the redirects alone, to be put into the server's own file.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.core.patterns import backtracks
from absolve.core.printable import printable
from absolve.rules import cells, rule_lines, table
from absolve.rules.cells import UTF8, decoded, detect_charset, long_cells
from absolve.rules.model import Rule, RuleSet, request, with_rest
from absolve.rules.outcomes import never, samples
from absolve.rules.rule_lines import csv_row, guarded
from absolve.urls.chain import PERMANENT
from absolve.urls.identity import origin
from absolve.urls.predicates import parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from absolve.rules.columns import Columns
    from absolve.rules.model import Outcome
    from absolve.rules.outcomes import Rules

_LINES: Final[dict[str, Callable[[Rule], list[str] | None]]] = {
    "apache": rule_lines.apache_lines,
    "cloudflare": rule_lines.cloudflare_lines,
    "csv": rule_lines.csv_lines,
    "netlify": rule_lines.netlify_lines,
    "nginx": rule_lines.nginx_lines,
}
_KEPT: Final = frozenset({"csv", "netlify", "cloudflare"})  # forms in which a rule is a row, or a line
_WITH_PCRE: Final = frozenset({"apache", "nginx"})
_WITH_SIGN: Final = frozenset({"csv", "netlify"})
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*)(?::[0-9]+)?")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_LOOKED_AT: Final = 1 << 16
_MAY_BE_FORMULA: Final = re.compile(r"(?:\A|[^\w/?&%.~-])[=@+\-\uff1d\uff0b\uff0d\uff20]")
CIRCLE: Final = "it goes in a circle"
NOWHERE: Final = "it leads to nothing"
DROPPED: Final = {CIRCLE, NOWHERE}


class Flat(NamedTuple):
    """A rule to write; `left_out`: the reason why it is not written, or None; `was`: the rule before it was changed."""

    rule: Rule
    left_out: str | None = None
    was: Rule | None = None


class Written(NamedTuple):
    """A map: its bytes, and the rules that it lacks, each with the reason."""

    data: bytes
    left_out: list[tuple[Rule, str]]


def form_for_path(path: Path, first: str = "csv") -> str:
    """Return the form for a file to be written, by its suffix; without one, by the form of the first map.

    For example, `site.conf` is for nginx, unless the first map is Apache's. Raise UsageError for any other suffix.
    """
    name = path.name.lower()
    if name.endswith("_redirects"):
        return first if first == "cloudflare" else "netlify"
    if name.endswith((".csv", ".htaccess")):
        return "csv" if name.endswith(".csv") else "apache"
    if name.endswith(".conf"):
        is_apache = "apache" in name or "httpd" in name or (first == "apache" and "nginx" not in name)
        return "apache" if is_apache else "nginx"
    if path.suffix:
        raise UsageError(f"no map is written as {path.suffix}: give the name of a .csv, _redirects, .htaccess or .conf")
    return form_like(first)


def form_like(form: str) -> str:
    """Return the form in which to write a map: CSV for a form without a writer."""
    return form if form in _LINES else "csv"


def redirect_rule(rules: Rules, old: str, new: str, *, prefix: bool = False) -> Rule | None:
    """Return the rule that redirects an old URL to a new one; None if the old URL is not http or https.

    For example, `http://h/a?x` and `http://new/b` give the source `/a?x` and the target `http://new/b`. `prefix`: for
    all URLs below its path, too, whatever their query. The target is a path only if both sites have one host: otherwise
    the path would be on the old one.
    """
    parts = request(old)
    if parts is None:
        return None
    source = parts.decoded + ("" if parts.query is None else f"?{parts.query}")
    target = new
    if rules.is_one_host and rules.is_new(new):
        target = new.removeprefix(origin(new)) or "/"
        if target.startswith("//"):  # alone, that would name another host
            target = new
    rule = Rule("", 0, f"{old} -> {new}", source=source, target=(target,))
    below = with_rest(target, parts.decoded)
    return rule._replace(how="prefix", source=parts.decoded, target=below) if prefix else rule


def _as_weak_as_possible(form: str, rules: Rules, rule: Rule, old: str) -> Rule:
    """Return an added rule without force (`301!`) in forms that have the sign, unless a file is in its way."""
    return rule if form not in _WITH_SIGN else rule._replace(forced=rules.exists(rules.counterpart(old)))


def with_added(
    form: str, rules: Rules, pairs: Iterable[tuple[str, str]], *, prefix: bool = False
) -> tuple[Rules, list[Rule]]:
    """Return the rules with added ones before them, for pairs of old and new URLs, and the added ones."""
    rules_by_url = ((old, redirect_rule(rules, old, new, prefix=prefix)) for old, new in pairs)
    added = [_as_weak_as_possible(form, rules, rule, old) for old, rule in rules_by_url if rule is not None]
    return rules.behind(RuleSet("", form, added)), added


def rule_text(form: str, rules: Rules, old: str, new: str, *, prefix: bool = False) -> str | None:
    """Return the text of the rule to add to a map of this form, for example `/a,/b,301`; CSV if it has no writer.

    None if the form cannot express it. `prefix`: a rule for a whole folder.
    """
    _, added = with_added(form, rules, [(old, new)], prefix=prefix)
    lines = _LINES[form_like(form)](added[0]) if added else None
    return "\n".join(lines) if lines else None


def written(form: str, rules: Rules, added: Iterable[tuple[str, str]] = ()) -> Written:
    """Return all maps in one form, the added rules first: a catch-all would keep them from being applied.

    Raise UsageError for an unknown form.
    """
    if form not in _LINES:
        raise UsageError(f"a map is written as one of {', '.join(sorted(_LINES))}, not {form!r}")
    pairs = list(added)
    if rules.exists is not never:
        tried, _ = with_added(form, rules, pairs)
        pairs = [pair for pair in pairs if tried.chain(pair[0]).final == pair[1]]
    behind, new = with_added(form, rules, pairs)
    left_out: list[tuple[Rule, str]] = []
    first = _converted(form, map(Flat, new), left_out)
    kept = 1 if _is_kept(form, rules.sets) else 0
    flat = [one for found in rules.sets[:kept] for one in _flat(behind, found)]
    left_out += [(one.rule, one.left_out) for one in flat if one.left_out in DROPPED]
    more = [one for found in rules.sets[kept:] for one in _doubled(_flat(behind, found), found, form)]
    lines = _servers(more, first, left_out) if form == "nginx" else _converted(form, more, left_out)
    if not kept:
        head = ["RewriteEngine On", *first] if form == "apache" else first if form != "nginx" else []
        return Written(UTF8.encoded("".join(f"{line}\n" for line in [*head, *lines] or [""])), left_out)
    own = rules.sets[0]
    charset = detect_charset(own.data, legacy=form == "csv")
    return Written(charset.encoded(_edited(own, flat, _LINES[form], first, lines)), left_out)


# --- chains to their end; a pattern whose target depends on the URL stays ---------------------------------------------


def _flat(rules: Rules, found: RuleSet) -> Iterator[Flat]:
    """Yield the rules of a map; where it has several virtual hosts, each rule comes with each name of its host."""
    names = found.names if len(found.servers) > 1 else {}
    for rule in found.rules:
        one = _flattened(rules, rule)
        own = names.get((rule.file, rule.line), {""})
        if "" in own or one.left_out is not None:
            yield one
        elif not (hosts := sorted(name for name in own if "*" not in name)):
            yield Flat(rule, "its host has only names with *")
        else:
            yield from (_on_host(one, host) for host in hosts)


def _flattened(rules: Rules, rule: Rule) -> Flat:
    """Return an exact rule with the end of its chain as target; left out if it never applies, loops, or is dead."""
    if rule.problem is not None:
        return Flat(rule, rule.problem)
    if rule.status == 200 or not rule.is_plain or rule.parameters or not rule.target:
        return Flat(rule)
    if rule.how != "exact":
        return _constant(rules, rule)
    urls = list(samples(rules, rule))
    urls += [old for url in urls if rule.host is None and (old := rules.old(url)) is not None]
    moves = [rules.move(url) for url in urls]
    if all(move is not None and move.rule != rule for move in moves):
        return Flat(rule, "another rule applies before it")
    ends = [
        (rules.chain(url, counts=False), move.target)
        for url, move in zip(urls, moves, strict=True)
        if move is not None and move.rule == rule
    ]
    outcomes = [outcome for outcome, _ in ends]
    if any(outcome.loop for outcome in outcomes):
        return Flat(rule, CIRCLE)
    if _is_dead(rules, outcomes):
        return Flat(rule, NOWHERE)
    finals = {outcome.final for outcome, target in ends if outcome.final != target and not outcome.served}
    if len(finals) != 1 or any(outcome.hops == 1 and outcome.final == target for outcome, target in ends):
        return Flat(rule)
    (final,) = finals
    if final is None:
        return Flat(rule)
    permanent = all(one.status in PERMANENT for outcome in outcomes for one in outcome.rules)
    status = rule.status if permanent or rule.status not in PERMANENT else 302
    return Flat(rule._replace(target=(_shown(rules, final, rule),), status=status), was=rule)


def _is_dead(rules: Rules, outcomes: Sequence[Outcome]) -> bool:
    """Return whether all outcomes lead to nothing, if the files of the new site are known."""
    return rules.exists is not never and bool(outcomes) and all(map(rules.leads_to_nothing, outcomes))


def _constant(rules: Rules, rule: Rule) -> Flat:
    """Return a rule from many URLs to one, with the end of its chain as target."""
    if not all(isinstance(part, str) for part in rule.target or ()):
        return Flat(rule)
    target = rules.absolute("".join(str(part) for part in rule.target or ()))
    outcome = rules.chain(target, counts=False) if target is not None else None
    if outcome is not None and _is_dead(rules, [outcome]):
        return Flat(rule, NOWHERE)
    if outcome is None or not outcome.hops or outcome.final is None or outcome.served is not None:
        return Flat(rule)
    if any(one.query != "drop" for one in (rule, *outcome.rules)) and "?" in outcome.final:
        return Flat(rule)
    return Flat(rule._replace(target=(_shown(rules, outcome.final, rule),)), was=rule)


def _shown(rules: Rules, final: str, rule: Rule) -> str:
    """Return a new target as the old one was written: a path stays a path on the new site."""
    was = rule.target[0] if rule.target else ""
    is_path = isinstance(was, str) and was.startswith("/") and not was.startswith("//")
    if not is_path or not rules.is_new(final):
        return final
    return final.removeprefix(origin(final)) or "/"


# --- a first map that keeps its text ----------------------------------------------------------------------------------


def _is_kept(form: str, sets: Sequence[RuleSet]) -> bool:
    """Return whether the text of the first map stays, because its rules are rows or lines in this form.

    It does not stay if an unclosed quote would swallow the rows of the other maps.
    """
    if not sets or sets[0].format != form or form not in _KEPT or not sets[0].data or cells.is_workbook(sets[0].data):
        return False
    if sets[0].words.startswith("rows of "):
        return False
    return form != "csv" or len(sets) == 1 or sets[0].data.count(b'"') % 2 == 0


def _edited(
    found: RuleSet,
    flat: Sequence[Flat],
    rule_lines_for: Callable[[Rule], list[str] | None],
    added: Sequence[str],
    others: Sequence[str],
) -> str:
    """Return the text of a map with its changed rules, lines before its first rule, and others at its end.

    Bytes that are no UTF-8 are lone surrogates in it (PEP 383). It has no byte order mark.
    """
    text = decoded(found.data, legacy=found.format == "csv")
    end = mark[0] if (mark := _LINE_END.search(text, 0, _LOOKED_AT)) is not None else "\n"
    layout = Layout(text, found.columns) if found.format == "csv" else None
    lines = list(io.StringIO(text, newline=""))

    def with_ends(several: Iterable[str]) -> list[str]:
        return [(line if layout is None else layout.row(line)) + end for line in several]

    for one in flat:
        rule = one.rule
        if (one.was is None and one.left_out not in DROPPED) or not 0 < rule.line <= len(lines):
            continue
        own = slice(rule.line - 1, rule.line if layout is None else layout.ends[rule.line])
        new = with_ends(rule_lines_for(rule) or ()) if one.was is not None else []
        if one.left_out in DROPPED and layout is None:
            new = [f"# {one.left_out}: {lines[rule.line - 1]}"]
        if new or one.was is None:
            lines[own] = ["".join(new), *[""] * (own.stop - own.start - 1)]
    start = len(list(takewhile(_is_comment, lines))) if layout is None else layout.lines_before_rules
    start = min(start, len(lines))
    for place in {start - 1, len(lines) - 1} if lines else ():
        lines[place] += end if lines[place] and not lines[place].endswith(("\n", "\r")) else ""
    text = "".join([*lines[:start], *with_ends(added), *lines[start:], *with_ends(others)])
    return text if layout is None else recognisable(_guarded(text, layout.delimiter, end), layout.delimiter, end)


def _guarded(text: str, delimiter: str, line_end: str) -> str:
    """Return a table in which no cell is a formula: anybody may have made the rows that are kept."""
    if not _MAY_BE_FORMULA.search(text):
        return text
    lines = list(io.StringIO(text, newline=""))
    made: list[str] = []
    at = 0
    with long_cells(len(text)):
        rows = csv.reader(lines, delimiter=delimiter)
        for row in rows:
            harmless = [*map(guarded, row)]
            own = lines[at : rows.line_num]
            made += own if harmless == row else [csv_row(*harmless, delimiter=delimiter), line_end]
            at = rows.line_num
    return "".join(made)


def _is_comment(line: str) -> bool:
    return line.lstrip(" \t")[:1] in {"", "#", "\r", "\n"}


class Layout:
    """The layout of a map in CSV, for rows to add: its separator, its header, the order of its cells."""

    def __init__(self, text: str, columns: Columns | None) -> None:
        self.delimiter = cells.detect_delimiter(text)
        found = list(cells.rows(text, self.delimiter))
        self.columns = columns or table.read(cells.Table(iter(found), "")).columns
        self.lines_before_rules = self._before(found)
        self._width = next((len(row.cells) for row in found if not row.is_comment), 0)
        self.ends = {row.first: row.last for row in found}

    def _before(self, found: Sequence[cells.Row]) -> int:
        """Return the number of lines before the first rule: comments, empty rows, and the header, which ends them."""
        header, before = self.columns.header, 0
        for row in found:
            if not row.is_comment and (header is None or row.first >= header.first):
                return row.last if header is not None else before
            before = row.last
        return before

    def row(self, text: str) -> str:
        """Return a row in the order of the columns: for example `/b;/a` for `/a,/b,301` if the header is `new;old`."""
        values = dict(zip(("old", "new", "status", "how"), next(csv.reader([text])), strict=False))
        header, places = self.columns.header, self.columns.places
        if values.get("status") == "301" and "how" not in values and "status" not in places and self._width == 2:
            del values["status"]
        by_place = {places[name]: cell for name, cell in values.items() if name in places}
        width = max([*by_place, len(header.cells) - 1 if header is not None else 1]) + 1
        row = [by_place.get(place, "") for place in range(width)]
        row += [cell for name, cell in values.items() if name not in places]
        return csv_row(*_trimmed(row), delimiter=self.delimiter)


def _trimmed(cells: list[str]) -> list[str]:
    return cells if cells[-1] or len(cells) < 3 else _trimmed(cells[:-1])


def recognisable(text: str, delimiter: str, line_end: str) -> str:
    """Return a table whose separator is recognised: with more cells in quotes where the text alone would mislead."""
    if cells.detect_delimiter(text) == delimiter:
        return text
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return text
    return "".join(csv_row(*row, delimiter=delimiter) + line_end for row in found)


# --- rules in a form --------------------------------------------------------------------------------------------------


def _doubled(flat: Iterable[Flat], ruleset: RuleSet, form: str) -> Iterator[Flat]:
    """Yield the rules of a map, twice where it ignores a final slash and the form does not: for `/a` and `/a/`."""
    for one in flat:
        yield one
        if not ruleset.is_slash_ignored or form == "netlify":
            continue
        path, mark, query = one.rule.source.partition("?")
        if one.left_out is None and one.rule.how == "exact" and path != "/":
            other = path.rstrip("/") if path.endswith("/") else f"{path}/"
            same = f"{other}{mark}{query}"
            was = one.was._replace(source=same) if one.was is not None else None
            yield Flat(one.rule._replace(source=same), was=was)


def _converted(form: str, flat: Iterable[Flat], left_out: list[tuple[Rule, str]]) -> list[str]:
    """Return the lines of rules in a form; add those that it cannot express to `left_out`."""
    lines: list[str] = []
    for rule, known, was in flat:
        reason = known or _unfit(rule)
        if reason is None and form in _WITH_PCRE and rule.how == "regex" and backtracks(rule.source):
            reason = f"{form} matches by PCRE, which may need much more than linear time for this pattern"
        own_lines = _LINES[form](rule) if reason is None and rule.is_plain else None
        if own_lines is None and reason is None and was is not None:
            own_lines = _LINES[form](was)  # a chain is better than no rule
        if own_lines is not None:
            lines += own_lines
            continue
        left_out.append((rule, reason or f"{form} cannot express it"))
        if form != "csv":
            lines.append(_comment(f"{rule.place}: {left_out[-1][1]}: {rule.text}"))
    return lines


def _comment(text: str) -> str:
    """Return a comment of one line. In Apache a backslash at its end would join it with the next line."""
    text = printable(" ".join(text.split()))
    return f"# {text} ." if text.endswith("\\") else f"# {text}"


def _unfit(rule: Rule) -> str | None:
    """Return why a rule is never written: its host could end a line or a block, or its target runs code."""
    if rule.host is not None and not _HOST.fullmatch(rule.host):
        return "its host is no name of a host"
    if rule.target and isinstance(rule.target[0], str) and parsed_scheme(rule.target[0]) not in {None, "http", "https"}:
        return "its target is no http or https URL"
    return None


def _servers(flat: Sequence[Flat], first: list[str], left_out: list[tuple[Rule, str]]) -> list[str]:
    """Return server blocks for nginx: one for each host that rules name; without hosts, only the rules."""
    unfit = [(one.rule, reason) for one in flat if one.rule.host is not None and (reason := _unfit(one.rule))]
    left_out += unfit
    flat = [one for one in flat if one.rule.host is None or not _unfit(one.rule)]
    hosts = dict.fromkeys(one.rule.host for one in flat if one.rule.host is not None)
    if not hosts:
        return [*first, *_converted("nginx", flat, left_out)]
    lines: list[str] = []
    for host in (None, *hosts):
        own = [_on_host(one, None) for one in flat if one.rule.host in {None, host}]
        missing: list[tuple[Rule, str]] = []
        name, _, port = (host or "_").partition(":")
        lines += ["server {", *([f"    listen {port};"] if port else []), f"    server_name {name};"]
        lines += [f"    {line}" for line in [*first, *_converted("nginx", own, missing)]]
        lines.append("}")
        own_lines = {(one.rule.file, one.rule.line) for one in flat if one.rule.host == host}
        left_out += [(rule, reason) for rule, reason in missing if (rule.file, rule.line) in own_lines]
    return lines


def _on_host(one: Flat, host: str | None) -> Flat:
    was = one.was._replace(host=host) if one.was is not None else None
    return one._replace(rule=one.rule._replace(host=host), was=was)
