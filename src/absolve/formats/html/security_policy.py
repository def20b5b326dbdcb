"""Content Security Policies: those of a header as `meta` elements, and the sources that a local copy needs.

In: the text of a policy (CSP Level 3). Out: policies for `meta` elements; whether a policy let a page load a URL.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from absolve.formats.html.start_tags import attributes, start_tags
from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.encodings.charsets import Charset
    from absolve.formats.html.start_tags import Attribute, Tag

Directives = dict[str, list[str]]

# Directives with source lists that name what a page loads (6.1).
_FETCH: Final = frozenset(
    "default-src script-src script-src-elem style-src style-src-elem img-src font-src media-src object-src frame-src"
    " child-src manifest-src prefetch-src worker-src connect-src".split()
)
_SHOWN: Final = ("img-src", "font-src", "media-src", "style-src", "style-src-elem")
_NOT_IN_META: Final = frozenset({"sandbox", "frame-ancestors", "report-uri", "report-to"})  # 3.3 ignores them
_FALLBACKS: Final = {
    "script": ("script-src-elem", "script-src", "default-src"),
    "frame": ("frame-src", "child-src", "default-src"),
    "object": ("object-src", "default-src"),
    "stylesheet": ("style-src-elem", "style-src", "default-src"),
    **{kind: (f"{word}-src", "default-src") for kind, word in (("image", "img"), ("media", "media"), ("font", "font"))},
}
KINDS: Final = frozenset(_FALLBACKS)  # of links that policies are about
# Start tags that do not end the head, where alone a policy counts (HTML Standard 4.2.5.3).
_IN_HEAD: Final = frozenset(
    b"html head base basefont bgsound link meta title noscript noframes style script template".split()
)
# What a sandbox forbids to a page and the frames in it (HTML Standard 7.1.5).
_NO_SCRIPTS: Final = "script-src 'none'; object-src 'none'; frame-src 'none'"
MARKER: Final = b"content-security-policy"
_LOCAL: Final = ("'self'", "file:", "http://*.localhost:*")  # as files, and by `absolve mirror --serve`
_INSIDE: Final = frozenset({"data:", "blob:", "about:", "filesystem:", "mediastream:"})
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST: Final = re.compile(r"(?:([a-z][a-z0-9+.-]*)://)?([^/:]+)(?::(\*|[0-9]{1,5}))?(/.*)?", re.IGNORECASE | re.DOTALL)
_PORTS: Final = {"http": 80, "https": 443}
MOST_SOURCES: Final = 500  # of one directive: each is compared with each URL that the page loads
MOST_POLICIES: Final = 16  # in force in one page, likewise
_LONGEST: Final = 1 << 15  # characters of one directive
NOTHING: Final[Directives] = {"default-src": ["'none'"]}


def of_header(fields: str) -> list[str]:
    """Return the policies in force of a response, whose fields are lines: several fields, each a list (2.2.2)."""
    values = (line.partition(": ") for line in fields.split("\n"))
    lists = (value.split(",") for name, _, value in values if name == "content-security-policy")
    return [policy.strip() for policies in lists for policy in policies if policy.strip()]


def of_head(data: bytes, charset: Charset) -> Iterator[tuple[Tag, Attribute, Attribute]]:
    """Yield the `meta` elements with a policy in the head of a page, with their http-equiv and their content."""
    for tag in start_tags(data) if MARKER in data.lower() else ():
        if tag.name not in _IN_HEAD:
            return
        found = attributes(data, tag.start, tag.end) if tag.name == b"meta" else {}
        equiv, content = found.get(b"http-equiv"), found.get(b"content")
        if equiv is not None and content is not None and equiv.text(charset).lower() == "content-security-policy":
            yield tag, equiv, content


def directives(policy: str) -> Directives:
    """Return the directives of a policy, by name in lower case, with their words; of duplicates the first (2.2.1).

    One with more than `MOST_SOURCES`, or longer than `_LONGEST`, allows nothing.
    """
    found: Directives = {}
    for text in policy.split(";"):
        words = text.split()
        if words:
            is_read = len(words) <= MOST_SOURCES + 1 and len(text) <= _LONGEST
            found.setdefault(words[0].lower(), words[1:] if is_read else ["'none'"])
    return found


def limits_scripts(policy: str) -> bool:
    """Return whether a policy forbids any script that is in a document."""
    found = directives(policy)
    if _is_scriptless(found):
        return True
    sources = found.get("script-src", found.get("default-src"))
    lists = [one for one in (sources, found.get("script-src-elem"), found.get("script-src-attr")) if one is not None]
    return "require-trusted-types-for" in found or not all(map(_allows_inline, lists))


def _is_scriptless(found: Directives) -> bool:
    return "sandbox" in found and "allow-scripts" not in map(str.lower, found["sandbox"])


def _allows_inline(sources: list[str]) -> bool:
    words = [source.lower() for source in sources]
    return "'unsafe-inline'" in words and not any(word.startswith(("'nonce-", "'sha", "'strict-")) for word in words)


def as_meta(policy: str) -> list[str]:
    """Return policies for `meta` elements that are at least as strict as one of a header."""
    found = directives(policy)
    texts = (text.strip() for text in policy.split(";"))
    kept = "; ".join(text for text in texts if text and text.split()[0].lower() not in _NOT_IN_META)
    stricter = [_NO_SCRIPTS] if _is_scriptless(found) else []
    if "sandbox" in found and "allow-forms" not in map(str.lower, found["sandbox"]):
        stricter.append("form-action 'none'")
    return ([kept] if kept else []) + (["; ".join(stricter)] if stricter else [])


def for_copy(policy: str, holds: Callable[[str], bool]) -> str:
    """Return a policy that lets a page load its local copies: the same text if it needs no further source.

    `holds` returns whether the mirror has a file that a source allows.
    """
    texts = policy.split(";")
    for number, text in enumerate(texts):
        words = text.split()
        hosts = [word for word in words[1:] if word[0] != "'" and word.lower() not in {"*", *_INSIDE}]
        if words and words[0].lower() in _FETCH and "file:" not in hosts and any(map(holds, hosts[:MOST_SOURCES])):
            lacking = [source for source in _LOCAL if source not in map(str.lower, words[1:])]
            bare = text.rstrip()
            texts[number] = " ".join([bare, *lacking]) + text[len(bare) :]
    return ";".join(texts)


def for_one_file(policy: str) -> str:
    """Return a policy that lets a page show what is in it as `data:` URLs: pictures, styles, fonts and media.

    Scripts and frames stay forbidden: more of these than the page's own would be allowed.
    """
    found = directives(policy)
    texts = [text.strip() for text in policy.split(";") if text.strip()]
    for name in _SHOWN:
        fallback = found.get("default-src", []) if name != "style-src-elem" else []
        sources = found.get(name, fallback)
        words = {source.lower() for source in sources}
        if words - {"'none'"} and "data:" not in words:
            texts = [text for text in texts if text.split()[0].lower() != name]
            texts.append(" ".join([name, *sources, "data:"]))
    return "; ".join(texts)


def allows(found: Directives, kind: str, url: str, page: str, nonce: str = "", *, by_path: bool = True) -> bool:
    """Return whether a policy lets the page `page` load a URL (6.7.2): `kind` is that of a link.

    After a redirect the path does not count.
    """
    sources = next((found[name] for name in _FALLBACKS[kind] if name in found), None)
    if sources is None:
        return True
    words = [source.lower() for source in sources]
    if kind == "script" and nonce and f"'nonce-{nonce}'" in sources:
        return True
    if kind == "script" and "'strict-dynamic'" in words:
        return False
    return matches(sources, url, page, by_path=by_path)


class _Place(NamedTuple):
    """The parts of a URL that a source expression is compared with; the path is percent-decoded."""

    scheme: str
    host: str
    port: int | None
    path: str


def _place(url: str) -> _Place:
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme)
    return _Place(parts.scheme, parts.hostname or "", port, percent_decoded(parts.path))


def matches(sources: Iterable[str], url: str, page: str, *, by_path: bool = True) -> bool:
    """Return whether any source expression of a page's policy allows a URL (6.7.2.6)."""
    try:
        its, own = _place(url), _place(page)
    except ValueError:
        return False
    return any(_matches(source, its, own, by_path=by_path) for source in sources)


def _matches(source: str, its: _Place, own: _Place, *, by_path: bool) -> bool:
    lowered = source.lower()
    if lowered == "'self'":
        same_port = its.port == own.port or (its.port, own.port) == (443, 80)
        return its.host == own.host and same_port and _is_at_least(its.scheme, own.scheme)
    if lowered.startswith("'") or lowered in _INSIDE:
        return lowered[:-1] == its.scheme
    if source == "*":
        return its.scheme in {"http", "https", "ws", "wss", own.scheme}
    if _SCHEME.fullmatch(source):
        return _is_at_least(its.scheme, lowered[:-1])
    found = _HOST.fullmatch(source)
    return found is not None and _host_matches(found, its, own.scheme) and (
        not by_path or _path_matches(percent_decoded(found[4] or ""), its.path)
    )


def _host_matches(found: re.Match[str], its: _Place, own_scheme: str) -> bool:
    wanted, pattern, stated = found[2].lower(), (found[1] or own_scheme).lower(), found[3]
    if not _is_at_least(its.scheme, pattern):
        return False
    if wanted != "*" and not (its.host.endswith(wanted[1:]) if wanted.startswith("*.") else its.host == wanted):
        return False
    if stated is None:
        return its.port == _PORTS.get(its.scheme)
    return stated == "*" or its.port == int(stated) or (stated == "80" and its.port == 443)


def _is_at_least(scheme: str, wanted: str) -> bool:
    return scheme == wanted or (scheme, wanted) == ("https", "http")


def _path_matches(wanted: str, path: str) -> bool:
    return not wanted or path == wanted or (wanted.endswith("/") and path.startswith(wanted))

