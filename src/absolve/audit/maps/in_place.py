"""Change the rules of a map in its own text: comments, order and what could not be read stay.

In: a `RuleSet` with its bytes, its rules flattened. Out: text. Only rules with a new target are written again, and
those that go in a circle, or lead to nothing, become comments.
"""

from __future__ import annotations

import io
import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from absolve.audit.maps.apache_config import words
from absolve.audit.maps.flattening import DROPPED
from absolve.audit.maps.forms import escaped
from absolve.audit.maps.nginx_config import block_starts
from absolve.audit.maps.spreadsheet import Layout, recognisable
from absolve.tables.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from absolve.audit.maps.flattening import Flat
    from absolve.audit.maps.model import Rule, RuleSet

_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n))*")
_NGINX_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*|\r?)\n)*")  # only a line feed ends one
_CONTINUED_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#(?>(?:\\\r?\n|[^\n])*)|\r?)(?:\n|\Z))*")  # of Apache
_LOOKED_AT: Final = 1 << 16
_SECTION: Final = re.compile(r"(?im)^[ \t]*<VirtualHost[^\n]*>[ \t]*(?=\r?$)")


def edited(
    found: RuleSet, flat: Sequence[Flat], lines_of: Callable[[Rule], list[str] | None], added: Sequence[str]
) -> str:
    """Return the text of a map with its changed rules, and added lines before its first rule; it ends with a line end.

    Bytes that are no UTF-8 are lone surrogates in it (PEP 383). It has no byte order mark.
    """
    text = decoded(found.data, legacy=found.format == "csv")
    if found.format == "nginx":
        text = _spans(text, flat)
        text = _inserted_in_blocks(text, added, list(block_starts(text, "server")), _NGINX_COMMENTS)
        return text if text.endswith("\n") else text + _line_end(text).removesuffix("\n") + "\n"
    line_end = _line_end(text)
    if found.format == "csv":
        layout = Layout(text, found.columns)
        text = _changed(text, flat, lambda one: _rows(layout, lines_of(one.rule)), layout.ends)
        text = _inserted_at(text, _offset(text, layout.lines_before_rules), _rows(layout, added) or ())
        return recognisable(_ended(text, line_end), layout.delimiter, line_end)
    text = _changed(text, flat, _apache if found.format == "apache" else lambda one: lines_of(one.rule))
    if found.format == "apache" and added:
        starts = [section.end() for section in _SECTION.finditer(text)]
        text = _inserted_in_blocks(text, ["RewriteEngine On", *added], starts, _CONTINUED_COMMENTS)
    else:
        text = _inserted(text, added, _COMMENTS)
    return _ended(text, line_end)


def _rows(layout: Layout, lines: Sequence[str] | None) -> list[str] | None:
    """Return rows of CSV in the columns of a map; None without any."""
    return [layout.row(line) for line in lines or ()] or None


def _changed(
    text: str,
    flat: Sequence[Flat],
    made_of: Callable[[Flat], list[str] | None],
    ends: Mapping[int, int] | None = None,
) -> str:
    """Return the text of a map of lines with its changed rules. `ends`: the last line of each row of CSV."""
    lines = list(io.StringIO(text, newline=""))
    for one in flat:
        rule = one.rule
        if not (one.is_changed or one.left_out in DROPPED) or not 0 < rule.line <= len(lines):
            continue
        last = _last_line(lines, rule.line, made_of is _apache) if ends is None else ends[rule.line]
        own = slice(rule.line - 1, last)
        old = "".join(lines[own])
        if one.is_changed:
            made = made_of(one)
            end = old[len(old.rstrip("\r\n")) :] or _line_end(text)
            new = end.join(made) + end if made is not None else old
        else:
            new = f"# {one.left_out}: {old}" if ends is None else ""
        lines[own] = [new, *[""] * (own.stop - own.start - 1)]
    return "".join(lines)


def _last_line(lines: Sequence[str], line: int, is_apache: bool) -> int:
    """Return the number of the last line of a rule: a directive of Apache may be continued."""
    while is_apache and line < len(lines) and lines[line - 1].rstrip("\r\n").endswith("\\"):
        line += 1
    return line


def _inserted(text: str, added: Sequence[str], skipped: re.Pattern[str]) -> str:
    """Return a text with lines before its first rule: behind the comments at its start."""
    comments = skipped.match(text)
    return _inserted_at(text, comments.end() if comments is not None else 0, added)


def _inserted_at(text: str, start: int, added: Sequence[str]) -> str:
    if not added:
        return text
    line_end = _line_end(text)
    before = _ended(text[:start], line_end) if start else ""
    return before + "".join(f"{line}{line_end}" for line in added) + text[start:]


def _offset(text: str, number: int) -> int:
    """Return the offset of the end of the line of this number."""
    return sum(map(len, islice(io.StringIO(text, newline=""), number)))


def _line_end(text: str) -> str:
    head = text[:_LOOKED_AT]
    return next((end for end in ("\r\n", "\n", "\r") if end in head), "\n")


def _ended(text: str, line_end: str) -> str:
    """Return a text that ends with a line end."""
    return text if text.endswith(("\n", line_end)) else text + line_end


def _inserted_in_blocks(text: str, added: Sequence[str], starts: Sequence[int], skipped: re.Pattern[str]) -> str:
    """Return a text with lines behind each of these offsets, the starts of blocks; without any as `_inserted` does."""
    if not added or not starts:
        return _inserted(text, added, skipped)
    line_end = _line_end(text)
    new = "".join(f"{line_end}    {line}" for line in added)
    return new.join(text[start:end] for start, end in pairwise([0, *starts, len(text)]))


def _apache(one: Flat) -> list[str] | None:
    """Return a directive with another target: the last argument of RedirectMatch, the second of RewriteRule."""
    rule = one.rule
    target = escaped("".join(part for part in rule.target or () if isinstance(part, str)))
    name, _, rest = rule.text.partition(" ")
    is_rewrite = name.lower() == "rewriterule"
    given = words(rest, is_raw=is_rewrite)
    if is_rewrite:
        flags = given[2] if len(given) > 2 else "[R]"
        if re.search(r"%|#", target) and not re.search(r"\b(?:NE|noescape)\b", flags, re.IGNORECASE):
            flags = f"{flags[:-1]},NE]"
        target = re.sub(r"[$%]", r"\\\g<0>", target)
        return [f'{name} "{given[0]}" "{target}" {flags}']
    quoted = [
        word if re.fullmatch(r"[^\s\"'\\]+", word) else '"' + re.sub(r'["\\]', r"\\\g<0>", word) + '"' for word in given
    ]
    if name.lower() == "redirectmatch":
        target = re.sub(r"\$(?=\d)", r"\$", target)  # a group
    quoted[-1] = f'"{target}"'
    return [f"{name} {' '.join(quoted)}"]


def _spans(text: str, flat: Sequence[Flat]) -> str:
    """Return an nginx configuration in which changed directives have their new target."""
    parts: list[str] = []
    place = 0
    changed = (one for one in flat if (one.is_changed or one.left_out in DROPPED) and one.rule.start >= 0)
    for one in sorted(changed, key=lambda one: one.rule.start):
        rule = one.rule
        old = text[rule.start : rule.start + len(rule.text)]
        target = escaped("".join(str(part) for part in rule.target or ()))
        made = _nginx(old, target) if one.is_changed else f"# {one.left_out}: {' '.join(old.split())}\n"
        if old != rule.text or made is None:
            continue
        parts += [text[place : rule.start], made]
        place = rule.start + len(old)
    parts.append(text[place:])
    return "".join(parts)


def _nginx(old: str, target: str) -> str | None:
    """Return a directive of nginx with another target: that of return, or of a line of a map."""
    if "$" in target or not old.endswith(";"):
        return None
    target = f'"{target}"' if re.search(r"[\s;{}\"']", target) else target
    found = re.fullmatch(r"(return\s+\d+\s+|\S+\s+)(?:\"[^\"]*\"|'[^']*'|[^\s;]+)\s*;", old)
    return f"{found[1]}{target};" if found else None
