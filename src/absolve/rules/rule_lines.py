"""Write one rule in the form of each server.

In: a `Rule` in the general form. Out: its lines, or None if the form cannot express it. The readers of this package
read the lines back with the same result.

    >>> from absolve.rules.model import Rule
    >>> rule = Rule("", 0, "", source="/a", target=("/b",))
    >>> csv_lines(rule), netlify_lines(rule), apache_lines(rule)
    (['/a,/b,301!'], ['/a /b 301!'], ['RewriteRule "^/?a$" "/b" [R=301,L]'])
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.printable import literal, original, percent_escaped, printable
from absolve.rules.model import encoded, with_rest
from absolve.urls.chain import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.rules.model import Rule

_UNSAFE: Final = re.compile(r"[\s\"<>\\`{}\x00-\x20\x7f]")  # the URL Standard escapes these in a path, too
_ENDING: Final = re.compile(r"(\\\\)|\\?([\x00-\x20\"\x7f])")
_SURROGATES: Final = "".join(map(chr, range(0xD800, 0xE000)))  # no characters; bytes that are no text (PEP 383) stay
_UNQUOTABLE: Final = re.compile(r"[\x00-\x1f\x7f\"]")  # in a string of nginx
_PLACEHOLDER: Final = re.compile(r"[*:]")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_TO_QUOTE: Final = re.compile(r'[,;\t"\r\n]')


def escaped(text: str) -> str:
    """Return a path or URL with escapes for invisible characters and those that end a word: for example `a%20b`."""
    return printable(_UNSAFE.sub(lambda one: percent_escaped(one[0]), text), _SURROGATES, percent_escaped)


def _visible(pattern: str) -> str:
    """Return a pattern for PCRE, which matches bytes, with escapes for the bytes of invisible characters."""
    return printable(pattern, _SURROGATES, lambda one: "".join(rf"\x{byte:02x}" for byte in one.encode()))


def _path(source: str) -> str:
    """Return the path of a rule, with its query, percent-encoded as in a URL."""
    path, mark, query = source.partition("?")
    return escaped(encoded(path)) + mark + escaped(query)


def _old(rule: Rule, path: str) -> str:
    path = path.replace("*", "%2A")  # which is no wildcard
    return path if rule.host is None else f"//{rule.host}{path}"


def _new(rule: Rule, group: Callable[[int], str], literal: Callable[[str], str] = str) -> str:
    return "".join(literal(escaped(part)) if isinstance(part, str) else group(part) for part in rule.target or ())


def path_pattern(rule: Rule) -> str | None:
    """Return a regular expression for decoded paths, for example `^/a((?:/(.*))?)$` for a prefix; None for URLs."""
    if rule.how == "regex":
        return rule.source if rule.subject == "path" else None
    if rule.how == "exact":
        return None if "?" in rule.source else f"^{re.escape(rule.source)}$"
    slash = "" if rule.source.endswith("/") else "/"
    rest = f"((?:{slash}(.*))?)" if slash else "((.*))"
    return f"^{re.escape(rule.source)}{rest}$"


def _has_escape(rule: Rule) -> bool:
    """Return whether a path keeps an escape: Apache and nginx compare decoded paths, so they cannot express it."""
    return rule.how != "regex" and _ESCAPE.search(rule.source.partition("?")[0]) is not None


# --- CSV --------------------------------------------------------------------------------------------------------------

# What begins a formula where `;` separates cells. Apostrophes, as `literal` puts them before formulas in other tables,
# would be a part of the URL for the programs of servers; an escape is the same URL for all.
_FORMULA: Final = re.compile(r"(?<=;)('*)([=@+\-\uff1d\uff0b\uff0d\uff20])")
_SEMICOLON: Final = re.compile(r"(\\[^;])|\\?;", re.DOTALL)


def _harmless(url: str) -> str:
    """Return a URL that no spreadsheet evaluates: `/x;=1` becomes `/x;%3D1`. In a query `+` is a space."""
    if literal(url) == url:
        return url
    path, mark, query = url.partition("?")
    query = _FORMULA.sub(lambda one: one[1] + ("%20" if one[2] == "+" else percent_escaped(one[2])), query)
    return _FORMULA.sub(lambda one: one[1] + percent_escaped(one[2]), path) + mark + query


def guarded(cell: str) -> str:
    """Return a cell of a row that is kept, and no formula: `=1` becomes `'=1`, a URL or pattern gets an escape."""
    text = original(cell)
    if literal(text) in {text, cell}:
        return cell
    if text.startswith("^"):
        return _SEMICOLON.sub(lambda one: one[1] or r"\x3b", text)
    return _harmless(text) if text.startswith(("/", "http://", "https://")) else literal(text)


def csv_row(*cells: str, delimiter: str = ",") -> str:
    """Return a row of CSV without its line end, with quotes wherever `detect_delimiter` would count a character.

    >>> csv_row("/a", "/b;c")
    '/a,"/b;c"'
    """
    quotes = [_TO_QUOTE.search(cell) is not None or delimiter in cell for cell in cells]
    pairs = zip(cells, quotes, strict=True)
    return delimiter.join('"' + cell.replace('"', '""') + '"' if quoted else cell for cell, quoted in pairs)


def csv_lines(rule: Rule) -> list[str] | None:
    """Return a row of CSV: old, new, status, and perhaps prefix or regex, for example `/a,/b,301!,prefix`."""
    if rule.parameters or rule.query == "append" or (rule.ignores_case and rule.how == "regex"):
        return None
    status = f"{rule.status}{'!' if rule.forced and rule.host is None else ''}"
    if rule.how == "exact":
        is_forced = rule.host is None or rule.forced
        return [_row(rule, _new(rule, str), status)] if is_forced else None
    first = rule.target[0] if rule.target else None
    if rule.how == "prefix" and isinstance(first, str) and with_rest(first, rule.source) == rule.target:
        is_forced = rule.host is None or rule.forced
        return [_row(rule, escaped(first), status, "prefix")] if is_forced else None
    pattern = rule.source if rule.subject == "url" else path_pattern(rule)
    if pattern is None or rule.host is not None or not (rule.subject == "url" or pattern.startswith("^/")):
        return None
    # A row matches the whole path; other forms search in it.
    whole = pattern if rule.subject == "url" or rule.how != "regex" else f"^/(?s:{pattern[2:]}(?s:.*))"
    whole = printable(whole, _SURROGATES, lambda one: rf"\x{{{ord(one):x}}}")
    if literal(whole) != whole:
        whole = _SEMICOLON.sub(lambda one: one[1] or r"\x3b", whole)
    new = _new(rule, lambda number: rf"\g<{number}>", lambda text: text.replace("\\", "\\\\"))
    return [csv_row(whole, _harmless(new), status, "regex")]


def _row(rule: Rule, new: str, *others: str) -> str:
    return csv_row(_harmless(_old(rule, _path(rule.source))), _harmless(new), *others)


# --- _redirects -------------------------------------------------------------------------------------------------------


def netlify_lines(rule: Rule) -> list[str] | None:
    """Return lines of `_redirects` for Netlify: for example `/a/* /b/:splat 301!` for a prefix."""
    status = f"{rule.status}{'!' if rule.forced else ''}"
    if rule.target is None and rule.status not in {404, 410}:
        return None
    return _redirects(rule, status, host=f"https://{rule.host}" if rule.host is not None else "", is_netlify=True)


def cloudflare_lines(rule: Rule) -> list[str] | None:
    """Return lines of `_redirects` for Cloudflare Pages, which has no rules for hosts, parameters or missing files."""
    if rule.status not in {200, *REDIRECTS} or rule.host is not None or rule.parameters or not rule.forced:
        return None
    return _redirects(rule, str(rule.status), host="", is_netlify=False)


def _redirects(rule: Rule, status: str, *, host: str, is_netlify: bool) -> list[str] | None:
    old, mark, query = rule.source.partition("?")
    if _PLACEHOLDER.search(old) or rule.how == "regex" or rule.query == "append":
        return None
    if any(isinstance(part, str) and re.search(r":[A-Za-z]", part.replace("://", "")) for part in rule.target or ()):
        return None
    path = host + escaped(encoded(old))
    if rule.how == "exact":
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
    path, mark, query = rule.source.partition("?") if rule.how == "exact" else (rule.source, "", "")
    pattern = path_pattern(rule._replace(source=path))
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
        new = _new(rule, lambda number: f"{sign}{number}", lambda text: re.sub(r"[$%]", r"\\\g<0>", text))
    return [*lines, f'RewriteRule "{_quoted(pattern)}" "{new}" [{",".join(flags)}]']


def _apache_flags(rule: Rule) -> list[str] | None:
    if rule.target is None or rule.status >= 400:
        return ["G"] if rule.status == 410 else [f"R={rule.status}"]
    if rule.status not in REDIRECTS:
        return None
    flags = [f"R={rule.status}", "L"]
    if any(isinstance(part, str) and re.search("[%#]", escaped(part)) for part in rule.target):
        flags.append("NE")
    if rule.ignores_case:
        flags.append("NC")
    if rule.query != "keep":
        flags.append("QSA" if rule.query == "append" else "QSD")
    return flags


def _quoted(pattern: str) -> str:
    """Return a pattern without characters that end a line or an argument, escaped or not."""
    return _visible(_ENDING.sub(lambda one: one[1] or rf"\x{ord(one[2]):02x}", pattern))


# --- nginx ------------------------------------------------------------------------------------------------------------


def nginx_lines(rule: Rule) -> list[str] | None:
    """Return a location for a server block, for example `location = "/a" { return 301 "/b"; }` for an exact path."""
    if rule.parameters or rule.subject != "path" or rule.host is not None:
        return None
    if any(isinstance(part, str) and "$" in part for part in rule.target or ()) or _UNQUOTABLE.search(rule.source):
        return None
    if rule.status == 200 and rule.target is not None:
        return None
    body = _nginx_body(rule)
    if body is not None and rule.how == "exact" and "?" in rule.source:
        is_constant = rule.forced and "$" not in rule.source  # nginx expands variables here
        return [f'if ($request_uri = "{_path(rule.source)}") {{ {body} }}'] if is_constant else None
    pattern = path_pattern(rule)
    if body is None or pattern is None or _has_escape(rule):
        return None
    if not rule.forced:
        body = f"if (!-e $request_filename) {{ {body} }}"
    if rule.how == "exact" and _visible(rule.source) == rule.source:
        path = rule.source.replace("\\", "\\\\").replace('"', '\\"')
        return [f'location = "{path}" {{ {body} }}']
    return [f'location {"~*" if rule.ignores_case else "~"} "{_nginx_pattern(pattern)}" {{ {body} }}']


def _nginx_pattern(pattern: str) -> str:
    """Return a pattern for a string of nginx, in which a backslash protects another one."""
    return _visible(pattern).replace("\\\\", "\\\\\\\\")


def _nginx_body(rule: Rule) -> str | None:
    if rule.target is None or rule.status >= 400:
        return f"return {rule.status};"
    if rule.status not in REDIRECTS:
        return None
    new = _new(rule, lambda number: f"${number}")
    has_query = "?" in new
    if rule.how == "exact" or rule.status not in {301, 302}:
        if rule.how != "exact" or "#" in new:
            return None
        args = (
            ""
            if rule.query == "drop" or "?" in rule.source or (has_query and rule.query == "keep")
            else "&$args"
            if has_query
            else "$is_args$args"
        )
        return f'return {rule.status} "{new}{args}";'
    drops = rule.query == "drop" or (has_query and rule.query == "keep")
    flag = "permanent" if rule.status == 301 else "redirect"
    pattern = _nginx_pattern(f"{'(?i)' if rule.ignores_case else ''}{path_pattern(rule)}")
    return f'rewrite "{pattern}" "{new}{"?" if drops else ""}" {flag};'
