"""Content Security Policies in `meta` elements: which of them forbid the local copy of what they allowed on the web.

In: the text of a policy (CSP Level 3). Out: the directive by which it forbids files of a mirror, or None.
"""

from __future__ import annotations

from typing import Final

# Directives with source lists that name what a page loads (6.1).
_FETCH: Final = frozenset(
    "default-src script-src script-src-elem style-src style-src-elem img-src font-src media-src object-src frame-src"
    " child-src manifest-src prefetch-src worker-src connect-src".split()
)
_MARKER: Final = b"content-security-policy"


def may_have_one(data: bytes) -> bool:
    """Return whether the bytes of a page may have a policy: a fast test for most pages."""
    return _MARKER in data.lower()


def forbidding(policy: str) -> str | None:
    """Return the first directive that names hosts or schemes and lacks 'self', so that it forbids a file; or None."""
    for text in policy.replace(",", ";").split(";"):
        words = text.split()
        if not words or words[0].lower() not in _FETCH:
            continue
        sources = [word.lower() for word in words[1:]]
        names = [source for source in sources if not source.startswith("'")]
        if names and "'self'" not in sources and not {"*", "file:"}.intersection(names) and not _only_data(names):
            return words[0].lower()
    return None


def _only_data(names: list[str]) -> bool:
    """Return whether sources are all inside the page (`data:`, `blob:`): nothing of the web was allowed before."""
    return set(names) <= {"data:", "blob:", "about:", "filesystem:", "mediastream:"}
