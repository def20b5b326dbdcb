"""Find the equivalents of a URL that is not held, and whether a URL is one of the public web.

In: absolute URLs as str, as `identity.normal` returns them. Out: other URLs and forms under which the same document may
have been captured, in the order in which they count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.urls.access import is_public_host
from absolve.urls.identity import decoded, normal, plain, respelled

if TYPE_CHECKING:
    from collections.abc import Iterator

UNESCAPED: Final = "unescaped"
SCHEME: Final = "scheme"
ENCODING: Final = "encoding"
MORE: Final = ("www", "slash", "query-order", "case")
NONE: Final = "none"

_UNRESERVED: Final = re.compile(r"[/A-Za-z0-9._~-]*")

def wanted(url: str) -> str | None:
    """Return a URL for a crawler, in printable ASCII, without user information and fragment; None if it is not public.

    The URL Standard's parser turns every spelling of an IPv4 address into the dotted one. Not public are loopback,
    link-local, private, shared (RFC 6598), multicast and reserved addresses, and names of local networks.
    """
    scheme, mark, rest = (normal(url) or "").partition("://")
    authority, slash, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host = authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
    if scheme not in {"http", "https"} or not is_public_host(host):
        return None
    return f"{scheme}{mark}{authority}{slash}{path}"


def path_form(url: str) -> str | None:
    """Return the form that all URLs share whose paths are one when decoded; it is no URL.

    None for a path of unreserved characters, which `plain` finds.
    """
    return next(_path_forms(url), None)


def _path_forms(url: str, charset: str = "utf-8") -> Iterator[str]:
    """Yield the form of a URL, then one for each path that it may mean in a charset."""
    before, mark, query = url.partition("?")
    root, separator, rest = plain(before).partition("://")
    authority, slash, path = rest.partition("/")
    if not _UNRESERVED.fullmatch(path):
        for one in (decoded(path), *respelled(path, charset)):
            yield f"{root}{separator}{authority}{slash}{one}{mark}{query} "  # no URL ends with a space


def twin(url: str) -> str | None:
    """Return the same URL with the other one of http and https; None for any other scheme."""
    if url.startswith("http:"):
        return f"https{url[4:]}"
    return f"http{url[5:]}" if url.startswith("https:") else None


class Equivalences(NamedTuple):
    """The rules by which two URLs are equivalent: the default ones, and those of `more`, words of MORE."""

    default: bool = True
    more: tuple[str, ...] = ()

    @staticmethod
    def of(words: str | None) -> Equivalences:
        """Return the equivalences for `--same`: words separated by commas. Raise UsageError for an unknown word."""
        given = [word.strip() for word in words.split(",")] if words else []
        if given == [NONE]:
            return Equivalences(default=False)
        for word in given:
            if word not in MORE:
                raise UsageError(f"--same takes {', '.join(MORE)} or {NONE}, not {word!r}")
        return Equivalences(more=tuple(word for word in MORE if word in given))

    def others(self, url: str, charset: str = "utf-8") -> list[tuple[str, str]]:
        """Return each rule with the equivalent form of this URL, in the order in which they count.

        Two URLs are the same by a rule where their forms are equal; a form may be a URL itself. The URL is of a link in
        a document of this charset.
        """
        if not self.default:
            return []
        path_forms = list(_path_forms(url, charset))
        forms = [plain(url), *path_forms[:1]]
        found = [(UNESCAPED, one) for one in forms]
        found += [(SCHEME, other) for one in dict.fromkeys([url, *forms]) if (other := twin(one)) is not None]
        found += [(",".join(self.more), self.form(url))] if self.more else []
        return [*found, *((ENCODING, form) for form in path_forms[1:])]

    def forms(self, url: str, *, is_file: bool = False) -> Iterator[str]:
        """Yield the forms, other than the URL itself, under which a held URL must be found by `others`.

        `is_file`: the URL is the path of a file, which every spelling of its escapes names. In an archive two such
        URLs may have two documents.
        """
        if not self.default:
            return
        spelled = plain(url)
        if spelled != url:
            yield spelled
        if is_file and (form := path_form(url)) is not None:
            yield form
        if self.more:
            yield self.form(url)

    def form(self, url: str) -> str:
        """Return the form that all URLs share which are the same by the rules of `more`; it is no URL."""
        scheme, _, rest = plain(url).partition("://")
        scheme = "http" if scheme == "https" else scheme
        authority, slash, path = rest.partition("/")
        path, mark, query = path.partition("?")
        if "www" in self.more:
            authority = authority.removeprefix("www.")
        if "slash" in self.more:
            path = path.rstrip("/")
        if "query-order" in self.more:
            query = "&".join(sorted(query.split("&")))
        form = f"={scheme}://{authority}{slash}{path}{mark}{query}"
        return form.lower() if "case" in self.more else form
