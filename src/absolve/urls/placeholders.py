"""Find the placeholders of template engines and of mail programs in references: a program fills them in later.

In: a reference as str, or a decoded attribute value as bytes. Out: whether it begins with a placeholder, so that it has
no URL yet; where the first placeholder inside it begins, so that all from there on is kept; a value in which the
placeholders have no delimiters.

The tables are from the documentation of the engines. Those that begin with characters that URLs have (`$`, `@`, `%`)
need more than these, because `$file` and `%20` are references too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.urls.predicates import has_scheme, is_malformed, scheme
from absolve.urls.rfc1808 import NEVER_RELATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.protocols import Resolver

_BEGINS: Final = pattern(
    r"\{(?![0-9A-Fa-f]{8}-|%[0-9A-Fa-f]{2})"  # {{x}} {% x %} {$x} {x}, but no {0123ABCD-...} and no {%22
    r"|%7[Bb](?:%7[Bb]|%25)"  # {{ and {% that an editor or an inliner of styles has escaped
    r"|[$@~!*^]\{|%\{(?![0-9A-Fa-f]{2})"  # JSP and Thymeleaf ${x} @{x} *{x} ~{x}, Struts %{x}
    r"|\#\{(?!\{)(?:[^{}]*\}[/?]|[^}]*\Z)"  # JSF #{x}/y; #{x} alone is a fragment, but in templates of Ruby
    r"|<[?%@#$]|<!--\#|<[A-Za-z]+:[A-Za-z]+[\s/>]|<TMPL_"  # PHP, ERB, ASP, FreeMarker, SSI, JSP tags, HTML::Template
    r"|<[A-Za-z][\w-]*>\Z"  # Campaign Monitor <x>, alone
    r"|\*\|"  # Mailchimp *|X|*
    r"|~?@(?:site)?/|__GHOST_URL__/|\[~\d+~\]"  # webpack and Vite ~@/x, Docusaurus @site/x, Ghost, MODX [~7~]
    r"|\|(?:filename|static|attach|tag|category|author|index)\|"  # Pelican
    r"|\[(?:[\[(@=]|%(?![0-9A-Fa-f]{2}))|\[[A-Za-z][\w:.-]*\]\Z"  # [[x]] [(x)] [@x] [=x] [% x %]; [x] alone
    r"|\$[A-Za-z_!(]"  # Velocity and PHP $x, $!x; ESI $(X)
    r"|@[(\[]|@[A-Za-z_]\w*(?:\.[A-Z]|[(\[])|@(?:Model|ViewBag)\."  # Razor @(x) @x.Y @x(), Blade @x(), Mosaico @[x]
    r"|@@[A-Za-z_]\w*@@|%\[[^\]]+\]%"  # of mail programs: @@X@@ %[x]%
    r"|%%[=\[\w][^%]*%%|%[A-Za-z_][\w.-]*%(?![0-9A-Fa-f]{2})"  # AMPscript %%=x=%% %%x%%; %PUBLIC_URL%
    r"|\#\#\#[A-Za-z_]|t3://"  # TYPO3 ###X### t3://page?uid=7
    r"|internal:/|entity:[a-z_]+/"  # Drupal internal:/x entity:node/7
    r"|\\+[\"']|[\"'] ?[.+] ?[\w$(]",  # a tag in the string of a program: its \", or the end of the string: '.$x
    re.ASCII,
)
# Those that a reference may have inside, and their ends. A value with an opener and no end is cut, mostly by a quote.
_ENDS: Final = {
    "{{": "}}", "{%": "%}", "{$": "}", "${": "}", "<?": "?>", "<!--#": "-->", "<%": "%>", "[%": "%]", "[[": "]]",
}  # fmt: skip
_OPENS: Final = pattern(r"\{\{|\{\$|\$\{|<\?|<!--\#|[{<\[]%(?![0-9A-Fa-f]{2})|\[\[(?=[\s+*~!$A-Za-z])")
_SCHEME: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_STAND_IN: Final = "x"  # resolved instead of a placeholder and all that follows


def is_placeholder(reference: str) -> bool:
    """Return whether a reference (str) has no URL yet: it begins with a placeholder, or ends within one."""
    if _BEGINS.match(reference) is not None:
        return True
    return any(end < 0 for _, end in _spans(reference)) and scheme(reference) not in NEVER_RELATIVE


def first(reference: str) -> int:
    """Return the offset of the first placeholder, the length without one: for example, `a/{{x}}/b` gives 2."""
    return next((start for start, _ in _spans(reference)), len(reference))


def fixed(reference: str) -> str:
    """Return a reference with a letter from its first placeholder on: for example, `a/{{x}}/b` gives `a/x`."""
    start = first(reference)
    return reference if start == len(reference) else reference[:start] + _STAND_IN


def resolved(reference: str, resolver: Resolver) -> str | None:
    """Resolve a reference up to its first placeholder: for example, `../{{x}}` in `http://h/d/` gives `http://h/{{x}}`.

    Return None if it is a placeholder itself, or resolves to nothing or a malformed URL. What follows a placeholder is
    not parsed: nobody knows which part of the URL that is.
    """
    if is_placeholder(reference):
        return None
    start = first(reference)
    before, rest = reference[:start], reference[start:]
    if not rest or scheme(reference) in NEVER_RELATIVE:
        found = resolver(reference)
        return None if found is None or is_malformed(found) else found
    if "://" in rest and _SCHEME.match(before):  # http{{s}}://h/
        return reference
    found = resolver(before + _STAND_IN)
    if found is None or is_malformed(found):
        return reference if has_scheme(reference) else None  # http://h:{{port}}/
    return found[: found.rindex(_STAND_IN)] + rest


def masked(value: bytes) -> bytes:
    """Return a value with letters in place of its placeholders: for example, `{{ a, b }} 2x` gives `xxxxxxxxxx 2x`."""
    text = value.decode("latin-1")
    pieces, at = [], 0
    for start, end in _spans(text):
        if end < 0:  # without an end: the rest is read as a browser reads it
            break
        pieces += [value[at:start], _STAND_IN.encode() * (end - start)]
        at = end
    return b"".join([*pieces, value[at:]]) if pieces else value


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the placeholders, in order; if one has no end, its span is the last, with the end -1."""
    at = 0
    while at >= 0 and (found := _OPENS.search(text, at)) is not None:
        mark = _ENDS[found[0]]
        end = text.find(mark, found.end())
        at = end + len(mark) if end >= 0 else -1
        yield found.start(), at
