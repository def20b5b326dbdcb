"""Declare in a page the charset that only its HTTP header stated: on a disk there is no header.

In: the bytes of an HTML or XML document and the label of its header. Out: the edit that declares it, or None where the
document declares the same itself.
"""

from __future__ import annotations

import re
from typing import Final

from absolve.core.model import Edit
from absolve.encodings.charsets import byte_order_mark, declared_in_html, lookup
from absolve.formats import registry

_MARKS: Final = {"utf-8": b"\xef\xbb\xbf", "utf-16le": b"\xff\xfe", "utf-16be": b"\xfe\xff"}
_PRESCAN: Final = 1024 - len(b'<meta charset="utf-8">')  # HTML Standard 13.2.3.2: bytes in which a meta is found
# What may precede the content of the head (HTML Standard 13.2.6.4.1 to 13.2.6.4.4), and where comments and start tags
# end (13.2.5): what is put behind them is before the first script.
_BLANK: Final = rb"\t\n\f\r "
_VALUE: Final = rb"[%b]*+=[%b]*+(?:\"[^\"]*+\"|'[^']*+'|[^%b>\"'][^%b>]*+|(?=>))" % ((_BLANK,) * 4)
_TAG_END: Final = rb"(?=[%b/>])(?>(?:[%b/]*+[^%b/>][^%b/>=]*+(?>(?:%b)?))*)[%b/]*+>" % (*(_BLANK,) * 4, _VALUE, _BLANK)
_MISC: Final = rb"(?>(?:[%b]++|<!--(?:-?>|(?>(?:(?!--!?>).)*)--!?>)|<(?:\?|!(?!--|doctype)|/[^a-z>])[^>]*+>)*)" % _BLANK
_BEFORE_HEAD: Final = re.compile(
    rb"(?is:%b(?>(?:<!doctype[^>]*+>)?)%b(?>(?:<html%b)?)%b(?>(?:<head%b)?))"
    % (_MISC, _MISC, _TAG_END, _MISC, _TAG_END)
)
_FAR: Final = 1 << 18  # bytes of UTF-16 that are looked at
_XML: Final = re.compile(rb"<\?xml[\t\n\r ]+version[\t\n\r ]*=[\t\n\r ]*(?:\"[^\"]*\"|'[^']*')")
_ENCODING: Final = re.compile(rb"([\t\n\r ]+encoding[\t\n\r ]*=[\t\n\r ]*)(?:\"([^\"]*)\"|'([^']*)')")


def declaration(data: bytes, media_type: str, label: str | None) -> tuple[Edit, str] | None:
    """Return the edit that declares the charset of a label, and its name; None where none is needed."""
    charset = lookup(label) if label else None
    if charset is None or byte_order_mark(data) is not None:
        return None
    kind = registry.kind_of(media_type)
    if kind == registry.HTML:
        own = declared_in_html(data)
        if own is not None and own.name == charset.name:
            return None
        position = head_of(data, charset.name)
        if charset.name in _MARKS and (charset.name != "utf-8" or position > _PRESCAN):
            return Edit(0, 0, _MARKS[charset.name]), charset.name
        return Edit(position, position, f'<meta charset="{charset.name}">'.encode()), charset.name
    return _in_xml(data, charset.name) if kind == registry.XML else None


def head_of(data: bytes, charset: str = "") -> int:
    """Return the offset at which the content of a page's head begins; `charset` is the page's, if it is known."""
    mark = byte_order_mark(data)
    start = mark[1] if mark is not None else 0
    name = mark[0].name if mark is not None else charset
    text = data[start:] if name != "iso-2022-jp" else data.partition(b"\x1b")[0]  # behind it `>` may be a letter
    if is_wide := name.startswith("utf-16"):
        first = name == "utf-16be"
        pairs = zip(text[first:_FAR:2], text[not first : _FAR : 2], strict=False)
        text = bytes(0x80 if high else low for low, high in pairs)
    found = _BEFORE_HEAD.match(text)
    return start + (found.end() if found is not None else 0) * (1 + is_wide)


def _in_xml(data: bytes, name: str) -> tuple[Edit, str] | None:
    if name in {"utf-16le", "utf-16be"}:
        return Edit(0, 0, _MARKS[name]), name
    found = _XML.match(data)
    if found is None:
        own = None
        edit = Edit(0, 0, f'<?xml version="1.0" encoding="{name}"?>'.encode())
    else:
        encoding = _ENCODING.match(data, found.end())
        if encoding is None:
            own = None
            edit = Edit(found.end(), found.end(), f' encoding="{name}"'.encode())
        else:
            own = encoding[2] if encoding[2] is not None else encoding[3]
            start = encoding.start(2) if encoding[2] is not None else encoding.start(3)
            edit = Edit(start, start + len(own), name.encode())
    declared = lookup(own.decode("latin-1")) if own is not None else lookup("utf-8")
    if declared is not None and declared.name == name:
        return None  # UTF-8 is what XML is without a declaration
    return edit, name
