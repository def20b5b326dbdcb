"""URLs as long as their document, or half as long, on which the profiles disagree, or nearly do."""

from collections.abc import Callable
from typing import Final

from tests.shapes.makers import Shape, repeated

_AFTER: Final = b'">x</a><a href=y>'
# One of each kind that has its own steps in a profile.
_LINKS: Final = b'<a href=x><a href=../y><a href="?q"><a href="#f"><a href="//k/z"><a href=""><a href="z;p"><a href=" v\n w">'


def _reference(unit: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    return Shape(repeated(unit, b'<a href="' + before, after + _AFTER))


def _base(unit: bytes, before: bytes = b"http://h/", after: bytes = b"/d/") -> Shape:
    """Return a page with a base half as long as itself, which appears in the row of each link."""
    make: Callable[[int], bytes] = repeated(unit, b'<base href="' + before, after + b'">' + _LINKS)
    return Shape(lambda size: make(size // 2) + b" " * (size // 2))


SHAPES: Final = {
    "URL of parent directories": _reference(b"../", b"http://g/", b"x"),
    "URL of directories and parents": _reference(b"a/../", b"http://g/", b"x"),
    "URL of full stops": _reference(b"./", b"foo://g/", b"x"),
    "URL without a host, of parent directories": _reference(b"../", b"foo:", b"x"),
    "URL without a host, of other characters": _reference("€".encode(), b"foo:", b"x"),
    "URL without a host, of quotes": _reference(b"'", b"foo:", b"x"),
    "URL of backslashes": _reference(b"\\", b"http://g/", b"x"),
    "URL of line ends": _reference(b"a\n", b"http://g/", b"x"),
    "URL of blanks": _reference(b"a ", b"http://g/", b"x"),
    "parents with params": _reference(b"..;/", b"", b"x"),
    "at signs behind slashes": _reference(b"@", b"//", b"/x"),
    "user information of brackets": _reference(b"[]", b"http://", b"@g/x"),
    "user information of other characters": _reference("€".encode(), b"http://", b"@g/x"),
    "user information of other characters, a host too": _reference("€".encode(), b"http://", "@é/x".encode()),
    "query of quotes behind a colon": _reference(b"'", b"a/b:c?"),
    "fragment of other characters behind a colon": _reference("€".encode(), b"a/b:c#"),
    "base of semicolons": _base(b";"),
    "base of parent directories": _base(b"../"),
    "base of directories and parents": _base(b"a/../"),
    "base of parents with params": _base(b"..;/"),
    "base of backslashes": _base(b"\\"),
    "base of tabs": _base(b"a\t"),
    "base of blanks": _base(b"a "),
    "base of percent signs": _base(b"%2e%2E/"),
    "base of other characters": _base("😀".encode()),
    "base of a query": _base(b";'", b"http://h/b;?", b"/"),
    "base of a fragment": _base("€".encode(), b"http://h/b;#"),
    "base of user information": _base("€".encode(), b"http://", b"@h/b;/c"),
    "base of a host": _base(b"a,", b"//", b"/d/"),
    "base that is climbed": Shape(
        lambda size: (b'<base href="http://h/' + b"d/" * (size // 4) + b'"><a href="' + b"../" * (size // 6) + b'..">x</a><a href=y>')
    ),
}
