"""Hostile text: references, bases and URLs that could become markup or code, and the random choices behind them."""

import random
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")


class Choices:
    """Makes decisions from the bytes of an input; after its end they come from a generator seeded with it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._random = random.Random(data)  # noqa: S311 - the same choices for the same input
        self.ends: list[str] = []  # text that would end the context of the links

    def below(self, limit: int) -> int:
        if self._at < len(self._data) and limit <= 256:
            self._at += 1
            return self._data[self._at - 1] % limit
        return self._random.randrange(limit)

    def of(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def one_in(self, many: int) -> bool:
        return self.below(many) == many - 1


MARKUP: Final = (
    "<", ">", "</noscript>", "</style>", "</script>", "</title>", "</textarea>", "</template>", "</svg>", "</noframes>",
    "<svg/onload=alert(1)>", "<script>alert(1)</script>", "<img src=x onerror=alert`1`>", "<!--", "<![CDATA[", "<?",
    "]]>", "]]", "]", "--", "-", "-->", "--!>", "--!", "!>", "?>", "<![endif]-->", "<!", "</", "<a",
)
QUOTES: Final = ('"', "'", "`", "=", " onload=alert(1) ", '"onload="alert(1)', "'onload='alert(1)", "\\", "\\\\", "\\'", '\\"')
ESCAPES: Final = (
    "&", "&lt;", "&gt;", "&quot;", "&#27;", "&#14;", "&#60;", "&amp;lt;", "&lt", "&#x3c", "lt;", "#60;", "amp;",
    "\\3c ", "\\3e ", "\\3e\n", "\\22 ", "\\27 ", "\\a ", "\\u003c", "\\u003e", "\\u0022", "u003c", "%3C", "%3E",
    "%22", "%0a", "%", "=3C", "=3E", "=\r\n", "=?utf-8?q?=3C?=", "=", "PHN2Zz4=",
)
SYNTAX: Final = ("{", "}", "(", ")", ";", ",", ":", "/*", "*/", "[", "]", "@import", "url(", ";url=", " 2x, ", ", ", "|", "^", "#", "?")
CONTROLS: Final = (
    "\x1b", "\x1b$B", "\x1b$@", "\x1b(B", "\x1b(J", "\x1b(I", "\x1b$(D", "\x0e", "\x0f", "\0", "\x01", "\x08", "\x0b", "\x0c", "\t", "\n", "\r",
    "\r\n", "\r\n\r\n", "\r\nX-Evil: 1", "\n ", " ", "  ", "\x1a", "\x1f", "\x7f", "\x80", "\x85", "\x9b", "\xa0",
)
OTHERS: Final = (
    "é", "日本", "\u2028", "\u2029", "\ufeff", "\u202e", "\U0001f600", "\ud800", "\ufffd", "ｱ", "¥", "‾", "\u212a", "ı",
    "\udc81", "\udcfe", "\udc8f", "\udca1", "\udce9", "\udc83\\", "\udc95\\", "\udc840",
)
CODE: Final = (
    "javascript:", "java\tscript:", "java\nscript:", "java\r\nscript:", "\x01javascript:", " javascript:", "JaVaScRiPt:", "vbscript:", "vb\nscript:",
    "\x1fvbscript:", "data:text/html,", "da\nta:text/html,", "\x08data:,", "javascript&colon;",
)
CODE_BASES: Final = (
    "javascript://%0aalert(1)//", "java\nscript://%0aalert(1)//", "\x01javascript://h/%0aalert(1)//", "vbscript://x/",
    "vb\nscript://x/", "data://text/html,<svg/onload=alert(1)>/", "da\tta:/x/", "JAVASCRIPT:/%0aalert(1)//",
    "vbscript:/x/", "\x1fdata:///x/", "java\tscript:///", "javascript\n://%0aalert(1)//",
)
PLAIN: Final = ("a", "b.png", "x", "i/j", "q?x=1", "1", "onload", "alert(1)", "script>", "style>", "svg/onload=alert(1)>", "!--", "img")
DOTS: Final = ("/a/../", "/../", "/./", "../", "./", "/", "//", "/a/../../", "/;x/../")
FRONTS: Final = ("", "", "", "", "./", "../", "/", "//h/", "//", "?", "#", ";", "http://h.example/", "https:", "http:", "HTTP://u:p@h/", "\\", "x:")


# Each is split in two with dot segments between the halves: when those are removed, the halves meet.
ENDS: Final = (
    "</script>", "</style>", "</noscript>", "</title>", "</template>", "</textarea>", "</svg>", "<svg/onload=alert(1)>", "<!--", "]]>", "-->", "--!>",
    "<![endif]-->", "?>", "*/", "&lt;", "&#60;", "&#27;", "\\3c ", "\\u003c", "\x1b$B", "\x1b(J", "<![CDATA[",
)


# Text that ends a context, by a word in the name of the context or charset.
OF_PLACES: Final = {
    "noscript": ("</noscript>", "</noscript"), "style": ("</style>", "*/", "\\3c/style>"), "CDATA": ("]]>", "]]\\3e ", "]]&gt;"),
    "import map": ("</script>", "\\u003c/script>", "<!--<script>"), "rules": ("</script>", "\\u003c/script>"),
    "JSON-LD": ("</script>", "\\u003c/script>"), "PI": ("?>", "?&gt;"), "header": ("\r\nX-Evil: 1", "\n\n", ">", "\r"),
    "feed": ("&lt;/noscript>", "</noscript>", "]]>"), "quote": ('"', "'", "&quot;", "&#39;"), "unquoted": (" onload=alert(1)", ">", "\t", "/>"),
    "iso-2022-jp": ("\x1b$B", "\x1b(J", "\x0e", "\x1b", "&#27;$B", "\x1b(I"),
    **dict.fromkeys(("gb", "big5", "shift_jis", "euc"), ("\udc81", "\udcfe", "\udc83", "\udc8f")),
    "utf-16": ("\ud83c", "\udc3c", "\u3c00", "\u003c"),
}


def known_ends(context: str, charset: str) -> list[str]:
    return [end for word, ends in OF_PLACES.items() if word in context or word in charset for end in ends]


def piece(choices: Choices) -> str:
    if choices.ends and choices.one_in(3):
        return choices.of(choices.ends) + choices.of(("", "", "<svg/onload=alert(1)>"))
    kinds = (MARKUP, MARKUP, QUOTES, ESCAPES, CONTROLS, OTHERS, SYNTAX, PLAIN, DOTS)
    return choices.of(choices.of(kinds))


def hostile(choices: Choices, most: int = 4) -> str:
    """Return a few pieces in sequence."""
    return "".join(piece(choices) for _ in range(1 + choices.below(most)))


def reference(choices: Choices) -> str:
    """Return a reference; half of them have dot segments, so that all of it is written again."""
    kind = choices.below(9)
    if kind == 0:
        return choices.of(PLAIN)
    if kind == 1:
        return choices.of(CODE) + hostile(choices, 2)
    front = choices.of(FRONTS)
    if kind == 8:
        end = choices.of(choices.ends) if choices.ends and choices.one_in(2) else choices.of(ENDS)
        cut = choices.of((1, 1, 2, len(end) - 1, choices.below(len(end)))) % len(end)
        dots = choices.of(("/a/..", "/.", "/a/b/../.." if cut else "")) if end[cut] == "/" else choices.of(DOTS)
        return front + end[:cut] + dots + end[cut:] + choices.of(("", hostile(choices, 2)))
    if kind in {2, 3, 4, 5}:
        return front + hostile(choices) + choices.of(DOTS) + (hostile(choices, 2) if kind < 4 else choices.of(PLAIN))
    return front + hostile(choices)


def base(choices: Choices) -> str:
    """Return a base URL chosen by an attacker."""
    kind = choices.below(8)
    if kind == 0:
        return "http://good.example/dir/"
    if kind == 1:
        return choices.of(CODE_BASES)
    front = choices.of(("http://h.example/", "http://h.example/d/", "https://h/", "//h/", "/", "", "app://x/", "http://", "file:///", "x:/"))
    behind = choices.of(("/", "/", "", "/d/", "?", "#", "/a/../"))
    return front + hostile(choices) + behind


SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def url(choices: Choices) -> str | None:
    """Return the URL given by the user or the container."""
    kind = choices.below(8)
    if kind == 0:
        return None
    if kind in {1, 2, 3}:
        return choices.of(("http://good.example/dir/", "http://good.example/dir/page.html?q#f"))
    made = base(choices)
    return made if SCHEME.match(made) else f"http://h.example/{made}"


Rule = tuple[str, str, str]


def rules(choices: Choices) -> list[Rule]:
    """Return a rule of a remap file, with a hostile target."""
    kind = choices.below(4)
    if kind == 0:
        return [("(?s)[a-z]+://[^/]*/(.*)", r"\1", "regex")]  # the whole target comes from the document
    if kind == 1:
        return [("(?s)([a-z]+)://([^/]*)/(.*)", r"\1://\2/" + hostile(choices).replace("\\", "") + r"\3", "regex")]
    new = choices.of(("http://new.example/", "//new.example/", "app://n/")) + hostile(choices)
    return [("http://good.example/", new, choices.of(("prefix", "exact"))), ("http://h.example/", new, "prefix")]


def policy(choices: Choices) -> Callable[[object], str]:
    """Return a policy that returns the same hostile text for every link."""
    text = choices.of(("http://new.example/", "", "./", "//n/", "?")) + hostile(choices)
    text = text if text.strip() else "x"
    return lambda _resolved: text
