"""Change the rules of a map in its own text: comments, order and what could not be read stay.

In: a `RuleSet` with its bytes, its rules flattened. Out: text. Only rules with a new target are written again, and
those that go in a circle become comments.
"""

from __future__ import annotations

import codecs
import io
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from absolve.audit.maps.apache_config import words
from absolve.audit.maps.forms import escaped
from absolve.audit.maps.nginx_config import block_starts
from absolve.audit.maps.spreadsheet import delimiter_of, fitting, lines_of_row
from absolve.audit.maps.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.audit.maps.flattening import Flat
    from absolve.audit.maps.model import Rule, RuleSet

_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*")
_CONTINUED_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#(?>(?:\\\r?\n|[^\n])*)|\r?)(?:\n|\Z))*")  # of Apache
_HEADER: Final = re.compile(r"[^/:,;\t]*(?:[,\t][^/:]*|;[^/:]*[^/:;\s])")  # of a table; a directive ends with `;`
_LOOKED_AT: Final = 1 << 16
_SECTION: Final = re.compile(r"(?im)^[ \t]*<VirtualHost[^\n]*>[ \t]*(?=\r?$)")


def edited(
    found: RuleSet, flat: Sequence[Flat], lines_of: Callable[[Rule], list[str] | None], added: Sequence[str]
) -> str:
    """Return the text of a map with its changed rules, and added lines before its first rule.

    Bytes that are no UTF-8 are lone surrogates in it (PEP 383), and a byte order mark is its first character.
    """
    mark = "\ufeff" if found.data.startswith(codecs.BOM_UTF8) else ""
    return mark + _edited(found, decoded(found.data), flat, lines_of, added)


def _edited(
    found: RuleSet, text: str, flat: Sequence[Flat], lines_of: Callable[[Rule], list[str] | None], added: Sequence[str]
) -> str:
    if found.format == "nginx":
        text = _spans(text, flat)
        return _inserted_in_blocks(text, added, list(block_starts(text, "server")))
    fitted = fitting(text) if found.format == "csv" else str
    added = list(map(fitted, added))
    delimiter = delimiter_of(text)
    lines = list(io.StringIO(text, newline=""))
    for one in flat:
        rule = one.rule
        is_circle = one.left_out == "it goes in a circle"
        if not (one.is_changed or is_circle) or not 0 < rule.line <= len(lines):
            continue
        own = slice(rule.line - 1, _last_line(lines, rule.line, found.format, delimiter))
        old = "".join(lines[own])
        if one.is_changed:
            made = _apache(one) if found.format == "apache" else lines_of(rule)
            end = old[len(old.rstrip("\r\n")) :] or "\n"
            new = end.join(map(fitted, made)) + end if made is not None else old
        else:
            new = f"# {one.left_out}: {old}" if found.format != "csv" else ""
        lines[own] = [new, *[""] * (own.stop - own.start - 1)]
    text = "".join(lines)
    if found.format == "apache" and added:
        added = ["RewriteEngine On", *added]
        starts = [section.end() for section in _SECTION.finditer(text)]
        return _inserted_in_blocks(text, added, starts, _CONTINUED_COMMENTS)
    return _inserted(text, added)


def _last_line(lines: Sequence[str], line: int, form: str, delimiter: str) -> int:
    """Return the number of the last line of a rule: a directive may be continued, a cell have several lines."""
    if form == "csv":
        return line - 1 + lines_of_row((lines[number] for number in range(line - 1, len(lines))), delimiter)
    while form == "apache" and line < len(lines) and lines[line - 1].rstrip("\r\n").endswith("\\"):
        line += 1
    return line


def _inserted(text: str, added: Sequence[str], skipped: re.Pattern[str] = _COMMENTS) -> str:
    """Return a text with lines before its first rule: behind the comments, and the header of a table, at its start."""
    if not added:
        return text
    comments = skipped.match(text)
    start = comments.end() if comments is not None else 0
    first, end, _ = text[start:].partition("\n")
    if _HEADER.fullmatch(first.strip()):
        start += len(first) + len(end)
    before = text[:start]
    line_end = _line_end(text)
    if before and not before.endswith("\n"):
        before += line_end
    return before + "".join(f"{line}{line_end}" for line in added) + text[start:]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text[:_LOOKED_AT] else "\n"


def _inserted_in_blocks(
    text: str, added: Sequence[str], starts: Sequence[int], skipped: re.Pattern[str] = _COMMENTS
) -> str:
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
    for one in sorted((one for one in flat if one.is_changed and one.rule.start >= 0), key=lambda one: one.rule.start):
        rule = one.rule
        old = text[rule.start : rule.start + len(rule.text)]
        target = escaped("".join(str(part) for part in rule.target or ()))
        made = _nginx(old, target)
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
