r"""Decide when two URLs are the same: one spelling for each part that is compared.

In: absolute URLs as str, or parts of them. Out: the part in its one spelling. Who compares chooses the parts:

| rule | the same | clause | function |
|---|---|---|---|
| letter case | `HTTP://H/`, `http://h/`; not the path | RFC 3986 6.2.2.1 | site, normal |
| case of escapes | `%c3`, `%C3` | RFC 3986 6.2.2.1 | plain, decoded |
| unreserved characters | `%7E`, `~`; once: `%257E` is another | RFC 3986 6.2.2.2, 2.4 | plain, decoded |
| other characters of a path | `%21`, `!`: servers look for one file | RFC 9110 4.2.3; nginx, Apache | decoded |
| delimiters stay escaped | not `%2F`, `/`; not `%3F`, `?` | RFC 3986 2.2 | plain, decoded |
| bytes that are no UTF-8 | stay escaped: `%e9`, `%E9` | RFC 3986 2.5 | decoded |
| escapes in the charset of the page | not `%ED`, `%D0%BD`: a file in another encoding | URL Standard 4.4 | respelled |
| dot segments, `\`, tabs | `/a/../b`, `/b` | RFC 3986 6.2.2.3, URL Standard 4.4 | normal |
| empty path | `http://h`, `http://h/` | RFC 3986 6.2.3, RFC 9110 4.2.3 | normal, key |
| default port | `http://h:80`, `http://h`; not `https://h:80` | RFC 3986 6.2.3, URL Standard 4.2 | site, normal |
| either web port | `https://h:80`, `https://h`: they name one host | none: what an audit asks | named, key |
| names in Unicode, IP addresses | `ü.example`, `xn--tda.example`; `127.1` | URL Standard 3.5, UTS 46 | site, normal |
| final dot of a host | `h.`, `h`: one name in DNS, dropped by servers | RFC 3986 3.2.2, RFC 1034 3.1 | site, plain |
| user information, fragment | no part of what is asked | RFC 9110 4.2.4, 7.1 | site, key |
| query | as it is written: a server may give its spelling a meaning | RFC 3986 3.4 | key |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from absolve.core.caching import remembered
from absolve.encodings.charsets import lookup
from absolve.urls import whatwg
from absolve.urls.predicates import STRICT_SCHEME

if TYPE_CHECKING:
    from collections.abc import Iterator

# Default ports by URL Standard 4.2, and by RFC 1738 for other schemes.
PORTS: Final = {
    **dict.fromkeys(("http", "ws"), "80"),
    **dict.fromkeys(("https", "wss"), "443"),
    "ftp": "21",
    "gopher": "70",
    "nntp": "119",
    "prospero": "1525",
    "telnet": "23",
    "wais": "210",
}

_AUTHORITY: Final = re.compile(rf"{STRICT_SCHEME.pattern}//([^/?#\\]*+)")
_PARTS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+://[^/?#]*+([^?#]*+)(?:\?([^#]*))?")
_NAME: Final = r"(?!(?:[^/:]*\.)?xn--)(?>(?:[a-z0-9_-]++\.)*)[a-z][a-z0-9_-]*+"  # of a host that is written in one way
_PLAIN: Final = re.compile(rf"{_NAME}(?::[1-9][0-9]{{0,3}})?")
_WITH_USER: Final = re.compile(r"^(https?://)[^/\\?#]*@", re.IGNORECASE)
_NORMAL: Final = re.compile(rf"https?://{_NAME}(?!.*(?:/\.\.?(?:[/?]|$)|%2[Ee]))/[!$-&(-;=?-\[\]_a-z~]*+")
_WEB_PORT: Final = re.compile(r":(?:80|443)$")
_NO_NAME: Final = re.compile(r"(?:svgView|epubcfi|xpointer|element)\(|(?:xywh|t|track)=")  # SVG 2, media
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_IN_CHARSET: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}[0-9@-~]*)+")  # ASCII may end two bytes, and be in four (gb18030)
_NOT_UTF_8: Final = re.compile("%[89A-F]")  # in a decoded path
_LEGACY: Final = "windows-1252"  # the most frequent charset of escapes that are not UTF-8
_BYTES: Final = re.compile("[\udc80-\udcff]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Key(NamedTuple):
    """What an audit looks a URL up by: its host as `named` has it, its path decoded, its query (None: without one)."""

    site: str
    path: str
    query: str | None


def key(url: str) -> Key:
    """Return the key of a URL by `normal`: for example, `http://h/a%21?x` gives `Key("h", "/a!", "x")`."""
    found = _PARTS.match(url)
    if found is None:
        return Key("", url, None)
    return Key(named(url), decoded(found[1] or "/"), found[2])


def normal(url: str) -> str | None:
    """Return a URL as a browser sends it (URL Standard 4.5), or None: for example, `HTTP://H/a/..#c`: `http://h/`."""
    bare = url.partition("#")[0]
    return bare if _NORMAL.fullmatch(bare) else whatwg.parse(bare)


def without_user(url: str) -> str:
    """Return an http(s) URL without user and password: for example, `http://u:p@h/` gives `http://h/`."""
    return _WITH_USER.sub(r"\1", url)


def origin(url: str) -> str:
    """Return scheme and authority as written, or "": for example, `HTTP://h:80/a` gives `HTTP://h:80`."""
    found = _AUTHORITY.match(url)
    return found[0] if found is not None else ""


def site(url: str) -> str | None:
    """Return the host of a URL, with `:port` unless it is the scheme's default; None for a URL without authority.

    For example, `http://H:80/a` gives `h`, `http://H:81/` gives `h:81`. URLs with equal `site` are of one site, with
    any schemes. A host that the URL Standard rejects is only in lower case.
    """
    return _site(origin(url))  # a cache of URLs would grow with the paths


def named(url: str) -> str:
    """Return the host that a URL names, without either web port: for example, `https://h:80/a` gives `h`; or "".

    So a link to the old host of a site is found with any scheme, though a browser may find no server at that port.
    """
    return _WEB_PORT.sub("", site(url) or "")


@remembered(1024)
def _site(beginning: str) -> str | None:
    match = _AUTHORITY.match(beginning)
    if match is None:
        return None
    scheme, authority = match[1].lower(), match[2].rpartition("@")[2]
    host = authority.lower()
    if not _PLAIN.fullmatch(host) and (scheme in whatwg.HOSTED or not host.isascii()):
        host = whatwg.host(f"{scheme}://{authority}/") or host
    name, colon, port = host.rpartition(":")
    if not colon or "]" in port:  # no port, or the colon of an IPv6 address
        name, port = host, ""
    name = name.removesuffix(".")
    return name if port in {"", PORTS.get(scheme)} else f"{name}:{port}"


def plain(url: str) -> str:
    """Return a URL with the fewest escapes and no final dot of its host: for example, `http://h./%7e`: `http://h/~`."""
    if "./" in url or ".:" in url or url.endswith("."):  # few URLs
        scheme, mark, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        if mark:
            url = f"{scheme}://{host.replace('.:', ':').removesuffix('.')}{slash}{path}"
    return _ESCAPE.sub(_unescaped, url) if "%" in url else url


def _unescaped(found: re.Match[str]) -> str:
    character = chr(int(found[0][1:], 16))
    return character if character in _UNRESERVED else found[0].upper()


def is_name(fragment: str) -> bool:
    """Return whether a decoded fragment names an element: for example, `top` does, `xywh=1,2,3,4` does not."""
    return _NO_NAME.match(fragment) is None


def percent_decoded(text: str) -> str:
    """Return a text with its escapes decoded as UTF-8: for example, `a%20%FF` gives `a ` and U+DCFF (PEP 383).

    Nothing is lost: two texts have the same result only if their bytes are the same.
    """
    return unquote(text, errors="surrogateescape")


def escaped(text: str) -> str:
    """Return a text with its lone surrogates (PEP 383) percent-encoded: for example, U+DCFF gives `%FF`."""
    return _BYTES.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)


def decoded(path: str, charset: str = "utf-8") -> str:
    """Return a path as servers compare it, decoded once: for example, `/%7Ea%2fb%21` gives `/~a%2Fb!`.

    Escapes of `/`, of `?`, of bytes that are not in the charset, and of a `%` that would begin an escape stay, in upper
    case.
    """
    if "%" not in path:
        return path
    return (_ESCAPES if charset == "utf-8" else _IN_CHARSET).sub(lambda found: _decoded_run(found, charset), path)


def respelled(path: str, charset: str) -> Iterator[str]:
    r"""Yield other paths, as `decoded` has them, that this one may mean in a page of a charset.

    Its escapes may be in that charset, and so may the bytes of file names: `%E9` is `\xe9` in Latin-1, and the reverse.
    """
    key = decoded(path)
    for one in () if key.isascii() and "%" not in key else dict.fromkeys((charset, _LEGACY)):
        known = lookup(one)
        if known is not None and known.transparent and known.name != "utf-8":
            if _NOT_UTF_8.search(key):
                yield decoded(path, one)
            if not key.isascii():
                yield escaped(known.encode(key, "absolve.percent").decode("ascii", "surrogateescape"))


def _decoded_run(found: re.Match[str], charset: str) -> str:
    known = lookup(charset) if charset != "utf-8" else None
    data = unquote_to_bytes(found[0])
    text = known.decode(data) if known is not None else data.decode("utf-8", "surrogateescape")
    text = text.replace("%", "%25").replace("/", "%2F").replace("?", "%3F")
    if not text.isascii():
        text = "".join(f"%{ord(one) - 0xDC00:02X}" if "\udc80" <= one <= "\udcff" else one for one in text)
    if "%25" not in text:
        return text
    rest = found.string[found.end() : found.end() + 2]
    return re.sub("%25(?![0-9A-Fa-f]{2})", "%", text + rest)[: -len(rest) or None]
