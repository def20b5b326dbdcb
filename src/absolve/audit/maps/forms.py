"""Write one rule in the form of each server.

In: a `Rule` in the general form. Out: its lines, or None if the form cannot express it. What is written here is read
back by the readers of this package with the same result.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from absolve.audit.maps.model import APPEND, DROP, EXACT, KEEP, PATH, PREFIX, REGEX, URL
from absolve.audit.maps.request import encoded
from absolve.audit.maps.spreadsheet import csv_row, with_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from absolve.audit.maps.model import Rule

_UNSAFE: Final = re.compile(r"[\s\"<>\\`{}\x00-\x20\x7f]")  # what the URL Standard escapes in a path, too
_ENDING: Final = re.compile(r"(\\\\)|\\?([\x00-\x20\"\x7f])")
_UNQUOTABLE: Final = re.compile(r"[\x00-\x1f\x7f\"]")  # in a string of nginx
_PLACEHOLDER: Final = re.compile(r"[*:]")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_CLOUDFLARE: Final = frozenset({200, 301, 302, 303, 307, 308})
_STATUSES: Final = frozenset({301, 302, 303, 307, 308})


def escaped(text: str) -> str:
    """Return a path or URL without characters that end a word."""
    return _UNSAFE.sub(lambda one: "".join(f"%{byte:02X}" for byte in one[0].encode()), text)


def _path(source: str) -> str:
    """Return the path of a rule, with its query, as a URL has it."""
    path, mark, query = source.partition("?")
    return escaped(encoded(path)) + mark + escaped(query)


def _old(rule: Rule, path: str) -> str:
    path = path.replace("*", "%2A")  # which is no wildcard
    return path if rule.host is None else f"//{rule.host}{path}"


def _new(rule: Rule, group: Callable[[int], str], literal: Callable[[str], str] = str) -> str:
    return "".join(literal(escaped(part)) if isinstance(part, str) else group(part) for part in rule.target or ())


def pattern_of(rule: Rule) -> str | None:
    """Return a regular expression for decoded paths, with the groups of the rule; None for one of whole URLs."""
    if rule.how == REGEX:
        return rule.source if rule.subject == PATH else None
    if rule.how == EXACT:
        return None if "?" in rule.source else f"^{re.escape(rule.source)}$"
    slash = "" if rule.source.endswith("/") else "/"
    rest = f"((?:{slash}(.*))?)" if slash else "((.*))"
    return f"^{re.escape(rule.source)}{rest}$"


def _has_escape(rule: Rule) -> bool:
    """Return whether a path keeps an escape: Apache and nginx compare paths without any, so no text of theirs is it."""
    return rule.how != REGEX and _ESCAPE.search(rule.source.partition("?")[0]) is not None


# --- CSV --------------------------------------------------------------------------------------------------------------


def csv_lines(rule: Rule) -> list[str] | None:
    """Return a row of CSV: old, new, status, and regex for a pattern."""
    if rule.parameters or rule.query == APPEND or (rule.ignores_case and rule.how == REGEX):
        return None
    status = f"{rule.status}{'!' if rule.forced and rule.host is None else ''}"
    if rule.how == EXACT:
        is_forced = rule.host is None or rule.forced
        return [csv_row(_old(rule, _path(rule.source)), _new(rule, str), status)] if is_forced else None
    first = rule.target[0] if rule.target else None
    if rule.how == PREFIX and isinstance(first, str) and with_rest(first, rule.source) == rule.target:
        is_forced = rule.host is None or rule.forced
        return [csv_row(_old(rule, _path(rule.source)), escaped(first), status, PREFIX)] if is_forced else None
    pattern = rule.source if rule.subject == URL else pattern_of(rule)
    if pattern is None or rule.host is not None or not (rule.subject == URL or pattern.startswith("^/")):
        return None
    # A row matches the whole path; other forms search in it.
    whole = pattern if rule.subject == URL or rule.how != REGEX else f"^/(?s:{pattern[2:]}(?s:.*))"
    new = _new(rule, lambda number: rf"\g<{number}>", lambda text: text.replace("\\", "\\\\"))
    return [csv_row(whole, new, status, "regex")]


# --- _redirects -------------------------------------------------------------------------------------------------------


def netlify_lines(rule: Rule) -> list[str] | None:
    """Return lines of `_redirects` for Netlify; a prefix without the slash at its end needs two."""
    status = f"{rule.status}{'!' if rule.forced else ''}"
    if rule.target is None and rule.status not in {404, 410}:
        return None
    return _redirects(rule, status, host=f"https://{rule.host}" if rule.host is not None else "", is_netlify=True)


def cloudflare_lines(rule: Rule) -> list[str] | None:
    """Return lines of `_redirects` for Cloudflare Pages, which has no rules with hosts, parameters or files."""
    if rule.status not in _CLOUDFLARE or rule.host is not None or rule.parameters or not rule.forced:
        return None
    return _redirects(rule, str(rule.status), host="", is_netlify=False)


def _redirects(rule: Rule, status: str, *, host: str, is_netlify: bool) -> list[str] | None:
    old, mark, query = rule.source.partition("?")
    if _PLACEHOLDER.search(old) or rule.how == REGEX or rule.query == APPEND:
        return None
    if any(isinstance(part, str) and re.search(r":[A-Za-z]", part.replace("://", "")) for part in rule.target or ()):
        return None
    path = host + escaped(encoded(old))
    if rule.how == EXACT:
        pairs = query.split("&") if mark else []
        if mark and (not is_netlify or not all(re.fullmatch(r"[\w.~-]+=[\w.~-]*", pair, re.ASCII) for pair in pairs)):
            return None
        new = _new(rule, str) if rule.target is not None else "/404.html"
        return [" ".join([path, *pairs, new, status])]
    first, *others = rule.target or ("",)
    if mark or not isinstance(first, str) or others not in ([1], [2]):
        return None
    first = escaped(first)
    if is_netlify and others == [2]:
        return [f"{path.rstrip('/')}/* {first}:splat {status}"]
    below = first if others == [2] or rule.source.endswith("/") else f"{first}/"
    bare = path.rstrip("/")
    lines = [] if rule.source.endswith("/") else [f"{bare or '/'} {first} {status}"]
    return [*lines, f"{bare}/* {below}:splat {status}"]


# --- Apache -----------------------------------------------------------------------------------------------------------


def apache_lines(rule: Rule) -> list[str] | None:
    """Return RewriteCond and RewriteRule lines, for `.htaccess` or the server's files."""
    path, mark, query = rule.source.partition("?") if rule.how == EXACT else (rule.source, "", "")
    pattern = pattern_of(rule._replace(source=path))
    flags = _apache_flags(rule)
    if rule.parameters or pattern is None or flags is None or _has_escape(rule):
        return None
    lines = []
    if rule.host is not None:
        lines.append(f'RewriteCond %{{HTTP_HOST}} "^{re.escape(rule.host)}$" [NC]')
    if mark:
        lines.append(f'RewriteCond %{{QUERY_STRING}} "^{_quoted(re.escape(query))}$"')
        flags.append("QSD")
    if not rule.forced:
        lines += [f"RewriteCond %{{REQUEST_FILENAME}} !{test}" for test in ("-f", "-d")]
    sign = "$"
    if pattern.startswith("^/") and "|" not in pattern:
        pattern = f"^/?{pattern[2:]}"  # paths have no slash at their beginning in .htaccess
    else:
        lines.append(f'RewriteCond %{{REQUEST_URI}} "{_quoted(pattern)}"{" [NC]" if rule.ignores_case else ""}')
        sign, pattern = "%", "^"
    new = "-"
    if rule.target is not None and rule.status < 400:
        new = _new(rule, lambda number: f"{sign}{number}", _apache_literal)
    return [*lines, f'RewriteRule "{_quoted(pattern)}" "{new}" [{",".join(flags)}]']


def _apache_flags(rule: Rule) -> list[str] | None:
    if rule.target is None or rule.status >= 400:
        return ["G"] if rule.status == 410 else [f"R={rule.status}"]
    if rule.status not in _STATUSES:
        return None
    flags = [f"R={rule.status}", "L"]
    if any(isinstance(part, str) and re.search("[%#]", escaped(part)) for part in rule.target):
        flags.append("NE")
    if rule.ignores_case:
        flags.append("NC")
    if rule.query != KEEP:
        flags.append("QSA" if rule.query == APPEND else "QSD")
    return flags


def _apache_literal(text: str) -> str:
    return re.sub(r"[$%]", r"\\\g<0>", text)


def _quoted(pattern: str) -> str:
    """Return a pattern without characters that end a line or an argument, escaped or not."""
    return _ENDING.sub(lambda one: one[1] or rf"\x{ord(one[2]):02x}", pattern)


# --- nginx ------------------------------------------------------------------------------------------------------------


def nginx_lines(rule: Rule) -> list[str] | None:
    """Return a location block with the rule, for a server block; exact paths are found before patterns."""
    if rule.parameters or rule.subject != PATH or rule.host is not None:
        return None
    if any(isinstance(part, str) and "$" in part for part in rule.target or ()) or _UNQUOTABLE.search(rule.source):
        return None
    if rule.status == 200 and rule.target is not None:
        return None
    body = _nginx_body(rule)
    if body is not None and rule.how == EXACT and "?" in rule.source:
        is_constant = rule.forced and "$" not in rule.source  # nginx expands variables here
        return [f'if ($request_uri = "{_path(rule.source)}") {{ {body} }}'] if is_constant else None
    pattern = pattern_of(rule)
    if body is None or pattern is None or _has_escape(rule):
        return None
    if not rule.forced:
        body = f"if (!-e $request_filename) {{ {body} }}"
    if rule.how == EXACT:
        path = rule.source.replace("\\", "\\\\").replace('"', '\\"')
        return [f'location = "{path}" {{ {body} }}']
    return [f'location {"~*" if rule.ignores_case else "~"} "{pattern}" {{ {body} }}']


def _nginx_body(rule: Rule) -> str | None:
    if rule.target is None or rule.status >= 400:
        return f"return {rule.status};"
    if rule.status not in _STATUSES:
        return None
    new = _new(rule, lambda number: f"${number}")
    has_query = "?" in new
    if rule.how == EXACT or rule.status not in {301, 302}:
        if rule.how != EXACT or "#" in new:
            return None
        args = (
            ""
            if rule.query == DROP or "?" in rule.source or (has_query and rule.query == KEEP)
            else "&$args"
            if has_query
            else "$is_args$args"
        )
        return f'return {rule.status} "{new}{args}";'
    drops = rule.query == DROP or (has_query and rule.query == KEEP)
    flag = "permanent" if rule.status == 301 else "redirect"
    pattern = f"(?i){pattern_of(rule)}" if rule.ignores_case else pattern_of(rule)
    return f'rewrite "{pattern}" "{new}{"?" if drops else ""}" {flag};'


# --- RewriteMap -------------------------------------------------------------------------------------------------------


def rewrite_map_lines(rule: Rule) -> list[str] | None:
    """Return a key and a value: an exact path without a host, with status 301."""
    if rule.how != EXACT or rule.host is not None or rule.status != 301 or rule.target is None or not rule.forced:
        return None
    if rule.parameters or "?" in rule.source or rule.query != KEEP:
        return None
    path = escaped(encoded(rule.source))
    return None if "#" in path[:1] else [f"{path} {_new(rule, str)}"]


# --- hosts: one line for each rule; JSON and XML have a frame ---------------------------------------------------------


class Piece(NamedTuple):
    """A path and its target; `is_below`: all below the path, and the rest of it follows the target."""

    old: str
    new: str
    is_below: bool = False


def _pieces(rule: Rule) -> list[Piece]:
    """Return a rule as exact paths and what is below a path; empty for one with more, or of other kinds."""
    is_plain = rule.host is None and not rule.parameters and rule.query != APPEND and rule.forced
    first, *others = rule.target or ("",)
    if not is_plain or rule.status not in _STATUSES or "?" in rule.source or not isinstance(first, str):
        return []
    old, new = escaped(encoded(rule.source)), escaped(first)
    if rule.how == EXACT:
        return [] if others else [Piece(old, new)]
    if rule.how != PREFIX or others not in ([1], [2]) or "?" in new or "#" in new:
        return []
    if old.endswith("/"):
        return [Piece(old[:-1], new, is_below=True)]
    joint = "/" if others == [1] else ""
    return [Piece(old, new), Piece(old, new + joint, is_below=True)]


_SPECIAL: Final = re.compile(r"[:*(){}\[\]|+?!@$\\]")


def _toml_lines(rule: Rule) -> list[str] | None:
    """Return tables of netlify.toml: what `netlify_lines` writes, as keys and values."""
    lines = netlify_lines(rule) if "?" not in rule.source and not rule.parameters else None
    made: list[str] = []
    for line in lines or ():
        old, new, status = line.split(" ")
        force = ["force = true"] if status.endswith("!") else []
        keys = [f"from = {json.dumps(old)}", f"to = {json.dumps(new)}", f"status = {status.removesuffix('!')}", *force]
        made += ["[[redirects]]", *keys]
    return made or None


def _json_lines(rule: Rule, keys: tuple[str, str, str], rest: tuple[str, str] | None) -> list[str] | None:
    """Return objects of JSON, one a line. `keys`: of source, target and status. `rest`: how both sides write it."""
    pieces = _pieces(rule)
    if any(_SPECIAL.search(piece.old + piece.new.partition("://")[2]) for piece in pieces):
        return None
    if rest is None and any(piece.is_below for piece in pieces):
        return None
    old, new, status = keys
    after = [(f"/{rest[0]}", rest[1]) if piece.is_below and rest is not None else ("", "") for piece in pieces]
    return [
        json.dumps({old: piece.old + one, new: piece.new + other, status: rule.status})
        for piece, (one, other) in zip(pieces, after, strict=True)
    ] or None


_KINDS: Final = {301: "Permanent", 302: "Found", 303: "SeeOther", 307: "Temporary"}


def _iis_lines(rule: Rule) -> list[str] | None:
    """Return rules of IIS, one a line: exact paths, all below a folder, and pages that are gone."""
    is_plain = rule.how == EXACT and rule.host is None and not rule.parameters and "?" not in rule.source
    if is_plain and rule.status == 410:
        return [_iis(rule, f"^{_quoted(re.escape(rule.source[1:]))}$", 'type="CustomResponse" statusCode="410"')]
    if rule.status not in _KINDS or any("{" in piece.new for piece in _pieces(rule)):
        return None
    query = "" if rule.query == KEEP else ' appendQueryString="false"'
    made = []
    for piece in _pieces(rule):
        path = _quoted(re.escape(rule.source.removesuffix("/")[1:] if piece.is_below else rule.source[1:]))
        new = f"{piece.new}{{R:1}}" if piece.is_below else piece.new
        action = f'type="Redirect" url="{_xml(new)}" redirectType="{_KINDS[rule.status]}"{query}'
        rest = "" if not piece.is_below else "/(.*)" if path else "(.*)"
        made.append(_iis(rule, f"^{path}{rest}$", action))
    return made or None


def _iis(rule: Rule, pattern: str, action: str) -> str:
    folds = "true" if rule.ignores_case else "false"
    match = f'<match url="{_xml(pattern)}" ignoreCase="{folds}" />'
    name = _xml(f"{rule.source} {crc32(pattern.encode('utf-8', 'replace')):08x}")
    return f'<rule name="{name}" stopProcessing="true">{match}<action {action} /></rule>'


def _xml(text: str) -> str:
    """Return text for the value of an attribute; what XML cannot have is a space."""
    text = re.sub("[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", " ", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _caddy_lines(rule: Rule) -> list[str] | None:
    """Return lines of `redir`; a rule that keeps the query has it behind the target."""
    made = []
    for piece in _pieces(rule):
        if any(mark in piece.old + piece.new for mark in "{}*`#@") or (not piece.old and not piece.is_below):
            return None
        query = "{?query}" if rule.query == KEEP and "?" not in piece.new else ""
        if piece.is_below:
            name = f"@below_{crc32(piece.old.encode()):08x}"
            pattern = f"^{re.escape(rule.source.removesuffix('/'))}/(.*)$"
            if re.search(r"[\s\"`]", pattern):
                return None
            made += [f"{name} path_regexp {pattern}", f"redir {name} {piece.new}{{re.1}}{query} {rule.status}"]
        else:
            made.append(f"redir {piece.old} {piece.new}{query} {rule.status}")
    return made or None


OF_HOSTS: Final[Mapping[str, Callable[[Rule], list[str] | None]]] = {
    "azure": lambda rule: _json_lines(rule, ("route", "redirect", "statusCode"), None),
    "caddy": _caddy_lines,
    "firebase": lambda rule: _json_lines(rule, ("source", "destination", "type"), (":rest*", ":rest")),
    "iis": _iis_lines,
    "netlify-toml": _toml_lines,
    "vercel": lambda rule: _json_lines(rule, ("source", "destination", "statusCode"), (":rest*", ":rest*")),
}
# What is before, between and behind the rules.
FRAMES: Final = {
    "azure": ('{"routes": [\n', ",\n", "\n]}\n"),
    "firebase": ('{"hosting": {"redirects": [\n', ",\n", "\n]}}\n"),
    "iis": (
        '<?xml version="1.0" encoding="utf-8"?>\n<configuration><system.webServer><rewrite><rules>\n',
        "\n",
        "\n</rules></rewrite></system.webServer></configuration>\n",
    ),
    "vercel": ('{"redirects": [\n', ",\n", "\n]}\n"),
}
