"""Content Security Policies: header fields as `meta` elements, and the sources that a local copy needs.

In: the text of a policy (CSP Level 3). Out: policies for `meta` elements; whether a policy let a page load a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.urls.source_lists import INSIDE, MOST_SOURCES, Directives, directives, matches

if TYPE_CHECKING:
    from collections.abc import Callable

# Directives whose source lists are for resources of the page (6.1).
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
# What a sandbox forbids to a page and the frames in it (HTML Standard 7.1.5).
_NO_SCRIPTS: Final = "script-src 'none'; object-src 'none'; frame-src 'none'"
_LOCAL: Final = ("'self'", "file:", "http://*.localhost:*")  # as files, and by `absolve mirror --serve`
MOST_POLICIES: Final = 16  # in force in one page, likewise
NOTHING: Final[Directives] = {"default-src": ["'none'"]}


def of_header(fields: str) -> list[str]:
    """Return the policies in the fields of a response: for example, `content-security-policy: a, b` has two (2.2.2)."""
    values = (line.partition(": ") for line in fields.split("\n"))
    lists = (value.split(",") for name, _, value in values if name == "content-security-policy")
    return [policy.strip() for policies in lists for policy in policies if policy.strip()]


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
    """Return a header's policy for `meta` elements: for example, `img-src 'self'; report-uri /x` without the latter."""
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
        hosts = [word for word in words[1:] if word[0] != "'" and word.lower() not in {"*", *INSIDE}]
        if words and words[0].lower() in _FETCH and "file:" not in hosts and any(map(holds, hosts[:MOST_SOURCES])):
            lacking = [source for source in _LOCAL if source not in map(str.lower, words[1:])]
            bare = text.rstrip()
            texts[number] = " ".join([bare, *lacking]) + text[len(bare) :]
    return ";".join(texts)


def for_one_file(policy: str) -> str:
    """Return a policy that lets a page show `data:` URLs: for example, `img-src 'self' data:` for `img-src 'self'`.

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
    """Return whether a policy lets the page `page` load a URL (6.7.2): `kind` is the kind of its link.

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
