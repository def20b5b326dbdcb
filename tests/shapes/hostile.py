"""Hostile documents: each shape is a function of its size in bytes, and must take time linear in it.

The tests check their results, the benchmarks their growth. A document has about the size asked for, plus the text
around the repeated part.
"""

from collections.abc import Callable
from typing import Final

from tests.shapes import hostile_formats
from tests.shapes.makers import Shape, deep_srcdocs, nested, numbered, repeated, sixteen_bit, srcdocs, unquoted_srcdocs

_LINKS: Final = b"<a href=x%d>y</a>"


def _attribute(unit: bytes, name: bytes = b"href", element: bytes = b"a") -> Callable[[int], bytes]:
    return repeated(unit, b"<" + element + b" " + name + b'="', b'">x</a><a href=y>')


def _srcset(unit: bytes) -> Callable[[int], bytes]:
    return repeated(unit, b'<img srcset="', b'"><a href=y>')


def _refresh(unit: bytes) -> Callable[[int], bytes]:
    return repeated(unit, b'<meta http-equiv=refresh content="0', b'url=x"><a href=y>')


_BASES: Final = {
    "base in base": Shape(repeated(b"<base ")), "base elements": Shape(numbered(b"", b"<base href=x%d>")),
    "base elements and links": Shape(numbered(b"", b"<base href=x%d/><a href=y>")),
    "relative bases in srcdoc": Shape(repeated(b'<iframe srcdoc="<base href=x/><a href=y>"></iframe>')),
    "base of references": Shape(repeated(b"&amp;", b'<base href="http://h/?', b'"><a href=x>')),
    "base with a long host": Shape(repeated(b"a", b"<base href='http://", b"/d/'><a href=x>")),
    "base with long user information": Shape(repeated(b"a:", b"<base href='http://", b"@h/d/'><a href=x>")),
    "long base, many links": Shape(lambda size: b"<base href=http://h/" + b"d/" * 500 + b">" + b"<a href=../x>" * (size // 13)),
    "base half as long as its document": Shape(
        lambda size: b"<base href=http://h/" + b"d" * (size // 2) + b"/>" + b"<a href=x>" * 20 + b" " * (size // 2)
    ),
    "codebase": Shape(numbered(b"", b"<object codebase=c%d/ data=x></object>")),
    "savers' comments of spaces": Shape(repeated(b"<!-- Page saved with SingleFile" + b" " * 8000 + b"-->", after=b"<a href=x>")),
    "saver's comments": Shape(repeated(b"<!-- saved from url=(0014)about:internet --><a href=x>")),
    "almost savers' comments": Shape(repeated(b"<!-- Page saved with SingleFile \n", b"", b"--><a href=x>")),
    "Saved from, at": Shape(repeated(b" at ", b"<!-- Saved from http://h/", b"--><a href=x>")),
}

_ELEMENTS: Final = {
    **{
        f"nested {name}": Shape(nested(b"<%b>" % name.encode(), b"</%b>" % name.encode()))
        for name in "div svg math table template a form b button select p li font ruby object".split()
    },
    **{
        f"unclosed {name}": Shape(repeated(b"<%b>" % name.encode(), after=b"<a href=x>"))
        for name in "div svg math table template td a form select p frameset option style title".split()
    },
    "nested foreignObject": Shape(nested(b"<svg><foreignObject>", b"</foreignObject></svg>")),
    "nested foreignObject, div": Shape(nested(b"<svg><foreignObject><div>", b"</div></foreignObject></svg>")),
    "nested svg desc": Shape(nested(b"<svg><desc>", b"</desc></svg>")),
    "svg g, then p in desc": Shape(repeated(b"<g><desc><p>", b"<svg>", b"<a href=x>")),
    "nested annotation-xml": Shape(nested(b"<math><annotation-xml encoding=text/html>", b"</annotation-xml></math>")),
    "nested table cells": Shape(nested(b"<table><tr><td>", b"</td></tr></table>")),
    "table parts in svg": Shape(repeated(b"<svg><desc><td>", b"<table><tr><td>", b"<a href=x>")),
    "nested table in template": Shape(nested(b"<template><tr><td>", b"</td></tr></template>")),
    "deep svg, breakouts": Shape(lambda size: b"<svg>" + b"<g>" * (size // 6) + b"<desc><p>" + b"</g></b>" * (size // 16) + b"<a href=x>"),
    "deep svg, unmatched end tags": Shape(lambda size: b"<svg>" + b"<g>" * (size // 6) + b"</u>" * (size // 8) + b"<a href=x>"),
    "deep svg, unmatched cells": Shape(lambda size: b"<table><tr><td><svg>" + b"<g>" * (size // 6) + b"</tr>" * (size // 10) + b"<a href=x>"),
    "unmatched end tags in svg": Shape(repeated(b"</u>", b"<svg><g>", b"<a href=x>")),
    "end tags of custom elements in svg": Shape(repeated(b"</x-y>", b"<x-y><svg><g>", b"<a href=x>")),
    "svg broken out of": Shape(repeated(b"<svg><g><p>", after=b"<a href=x>")),
    "templates of columns": Shape(repeated(b"<template><col>", after=b"<a href=x>")),
    "html and body again": Shape(numbered(b"", b"<html a%d=1 manifest=m><body b=2 background=c>")),
    "formattings misnested": Shape(repeated(b"<b><i></b>", after=b"<a href=x>")),
    "styles in svg": Shape(repeated(b"<style><![CDATA[url(x)]]>", b"<svg>", b"<a href=x>")),
    "style of CDATA sections in svg": Shape(repeated(b"<![CDATA[url(x)]]>", b"<svg><style>", b"</style><a href=x>")),
    "styles in svg without an end": Shape(repeated(b"<style>(", b"<svg>")),
    "styles in svg, CDATA without an end": Shape(repeated(b"<style><![CDATA[(", b"<svg>")),
}

_SRCDOC: Final = {
    "nested srcdoc": Shape(deep_srcdocs(srcdocs)),
    "nested srcdoc, both quotes": Shape(deep_srcdocs(lambda levels: srcdocs(levels, b"\"'"))),
    "nested srcdoc, no quotes": Shape(deep_srcdocs(unquoted_srcdocs)),
    "srcdoc, quotes alternating": Shape(repeated(b"<iframe srcdoc=\"<iframe srcdoc='")),
    "srcdoc, unescaped": Shape(repeated(b'<iframe srcdoc="')), "srcdoc, unquoted": Shape(repeated(b"<iframe srcdoc=")),
    "srcdoc siblings": Shape(numbered(b"", b"<iframe srcdoc='<a href=x%d>'></iframe>")),
    "srcdoc siblings in srcdoc": Shape(repeated(b"<iframe srcdoc='<a href=x>'></iframe>", b'<iframe srcdoc="', b'"></iframe>')),
    "srcdoc of references": Shape(repeated(b"&amp;", b'<iframe srcdoc="<a href=x>', b'">')),
    "srcdoc of lines": Shape(repeated(b"\r\n<a href=x>", b'<iframe srcdoc="', b'">')),
    "srcdoc of NUL bytes": Shape(repeated(b"\0", b'<iframe srcdoc="<a href=x>', b'<a href=y>">')),
    "srcdoc of carriage returns": Shape(repeated(b"\r", b'<iframe srcdoc="<a href=x>', b'<a href=y>">')),
    "srcdoc with styles": Shape(repeated(b"<p style='a:url(x)'>", b'<iframe srcdoc="', b'">')),
    "srcdoc of unquoted links": Shape(repeated(b"<a&#32;href=x&gt;", b"<iframe srcdoc=", b">")),
}

_VALUES: Final = {
    "srcset of commas": Shape(_srcset(b",")), "srcset of parentheses": Shape(_srcset(b"(")), "srcset of closed parentheses": Shape(_srcset(b"()")),
    "srcset of descriptors in parentheses": Shape(_srcset(b"a (,")), "srcset of a": Shape(_srcset(b"a,")),
    "srcset of a and space": Shape(_srcset(b"a, ")), "srcset of spaces": Shape(_srcset(b" ")), "srcset of descriptors": Shape(_srcset(b"a 1x 2w,")),
    "srcset of one URL": Shape(_srcset(b"a")), "srcset of references": Shape(_srcset(b"&amp;a 1x, ")),
    "srcset, unquoted": Shape(repeated(b"a,b,", b"<img srcset=", b"><a href=y>")),
    "srcsets, unquoted": Shape(repeated(b"<img srcset=a,b>")), "srcsets of four, unquoted": Shape(repeated(b"<img srcset=a,b,c,d>")),
    "pings, unquoted": Shape(repeated(b"<a ping=a&#32;b>")), "ping": Shape(repeated(b"x ", b"<a href=y ping='", b"'>")),
    "ping, unquoted with references": Shape(repeated(b"x&#32;", b"<a href=y ping=", b">")),
    "archive of commas": Shape(repeated(b",", b"<applet archive='", b"x'></applet><a href=y>")),
    "archive in a codebase": Shape(repeated(b"x,", b"<applet codebase=c/ archive='", b"x'></applet><a href=y>")),
    "refresh of spaces": Shape(_refresh(b" ")), "refresh of digits": Shape(_refresh(b"1")), "refresh of full stops": Shape(_refresh(b".")),
    "refresh of semicolons": Shape(_refresh(b";")), "refresh of url": Shape(_refresh(b";url=")),
    "tasks": Shape(repeated(b"action-uri ;", b"<meta name=msapplication-task content='", b"action-uri=x'><a href=y>")),
    "white space in href": Shape(_attribute(b" ")), "white space by reference in href": Shape(_attribute(b"&#32;")),
    "white space by reference": Shape(repeated(b"&#32;", after=b"<a href=x>")),
    "parent directories": Shape(_attribute(b"../")),
    "many parent directories": Shape(numbered(b"", b"<a href=../../../../../../../../../../../x%d>")),
    "directories and parents": Shape(_attribute(b"a/../")), "full stops": Shape(_attribute(b"./")), "slashes": Shape(_attribute(b"/")),
    "colons": Shape(_attribute(b":")), "percent signs": Shape(_attribute(b"%2e%2E/")), "backslashes in href": Shape(_attribute(b"\\")),
    "semicolons": Shape(_attribute(b";")), "one long scheme": Shape(_attribute(b"a")),
    "a host of labels": Shape(repeated(b"a.", b"<a href='http://", b"'><a href=y>")),
    "a port of digits": Shape(repeated(b"1", b"<a href='http://h:", b"'><a href=y>")),
    "at signs": Shape(repeated(b"@", b"<a href='http://", b"'><a href=y>")),
    "rel of a megabyte": Shape(repeated(b"x ", b"<link href=x rel='", b"'><a href=y>")),
    "rel of a megabyte, after links": Shape(repeated(b"x ", b"<a href=x rel='", b"'>y</a>")),
    "alt of a megabyte": Shape(repeated(b"x ", b"<a href=y><img src=x alt='", b"'></a>")),
    "lazy images": Shape(numbered(b"", b"<img data-src=x%d srcset='a 1x, b 2x'>")),
    "links that differ": Shape(numbered(b"", _LINKS)), "links, each on a line": Shape(numbered(b"", _LINKS + b"\n")),
    "links, carriage returns": Shape(numbered(b"", _LINKS + b"\r")), "links, CR LF": Shape(numbered(b"", _LINKS + b"\r\n")),
    "links, not ASCII": Shape(numbered(b"", b"<a href=x%d>\xc3\xa9\xe2\x82\xac</a>")),
    "line ends": Shape(repeated(b"\n", after=b"<a href=x>")), "carriage returns": Shape(repeated(b"\r", after=b"<a href=x>")),
    "one long line": Shape(repeated(b"x", after=b"<a href=x>")), "white space": Shape(repeated(b" ", after=b"<a href=x>")),
}

_MARKUP: Final = {
    "less-than signs": Shape(repeated(b"<")), "end tags begun": Shape(repeated(b"</")), "comments begun": Shape(repeated(b"<!--")),
    "comments begun, one dash": Shape(repeated(b"<!-")), "comments, scripts begun": Shape(repeated(b"<!--<script>")),
    "dashes": Shape(repeated(b"-", b"<!--", b"--><a href=x>")),
    "dashes and exclamation marks": Shape(repeated(b"--!", b"<!--x", b"--><a href=x>")),
    "comments": Shape(repeated(b"<!---->", after=b"<a href=x>")),
    "conditional comments": Shape(repeated(b"<!--[if IE]><a href=x><![endif]-->")),
    "conditional comments begun": Shape(repeated(b"<!--[if IE]>")), "CDATA begun in svg": Shape(repeated(b"<![CDATA[", b"<svg>")),
    "CDATA in svg": Shape(repeated(b"<![CDATA[x]]>", b"<svg>", b"</svg><a href=x>")),
    "CDATA in HTML": Shape(repeated(b"<![CDATA[", after=b"><a href=x>")), "declarations": Shape(repeated(b"<!x")),
    "processing instructions": Shape(repeated(b"<?")), "unclosed quotes": Shape(repeated(b'<a href="')),
    "unclosed quotes, alternating": Shape(repeated(b"<a href=\"'><b title='\">")),
    "unclosed attributes": Shape(repeated(b"<a href=x ")),
    "attributes that differ": Shape(numbered(b"<a ", b"a%d=1 ", b"href=x>y</a>")),
    "attributes alike": Shape(repeated(b"href=x ", b"<a ", b">y</a>")),
    "attributes without values": Shape(repeated(b"href ", b"<a ", b">y</a>")),
    "attributes in end tags": Shape(repeated(b"a=1 ", b"</p ", b"><a href=x>")),
    "equals signs": Shape(repeated(b"=", b"<a ", b"><a href=x>")), "slashes in a tag": Shape(repeated(b"/", b"<a ", b"><a href=x>")),
    "one long tag name": Shape(repeated(b"a", b"<", b"><a href=x>")),
    "one long attribute name": Shape(repeated(b"a", b"<a ", b"><a href=x>")),
    "long tag names": Shape(repeated(b"<" + b"a" * 60 + b">", after=b"<a href=x>")),
    "scripts": Shape(repeated(b"<script></script>", after=b"<a href=x>")),
    "script escaped": Shape(repeated(b"<!--<script></script>", b"<script>", b"</script><a href=x>")),
    "script of less-than signs": Shape(repeated(b"<", b"<script>", b"</script><a href=x>")),
    "script of its name": Shape(repeated(b"</script", b"<script>", b"></script><a href=x>")),
    "textarea of its name": Shape(repeated(b"</textare", b"<textarea>", b"</textarea><a href=x>")),
    "NUL bytes": Shape(repeated(b"\0", b"<p>", b"<a href=x>")), "NUL bytes in href": Shape(_attribute(b"\0")),
    "anchors in anchors": Shape(repeated(b"<a href=x><b>")), "anchors that never end": Shape(repeated(b"<a href=x>\xc3\xa9")),
    "an anchor of tags": Shape(repeated(b"<b><i>", b"<a href=x>")), "an anchor of quotes": Shape(repeated(b"<b '\"", b"<a href=x>")),
    "an anchor of comments begun": Shape(repeated(b"<!--", b"<a href=x>y</a><a href=z>")),
    "anchors, comments begun": Shape(repeated(b"<a href=x><!-->")),
    "an anchor of scripts": Shape(repeated(b"<script></script>", b"<a href=x>")),
    "anchors, tags begun in the next tag": Shape(repeated(b"<a href=x>" + b"<b" * 2100 + b">")),
    "anchors, quotes that open nothing": Shape(repeated(b"<a href=x><b '\"><i \"'>")),
    "conditional comments, nested": Shape(lambda size: b"<!--[if]>" * (size // 18) + b"<a href=x>" + b"<![endif]" * (size // 18) + b"-->"),
    "anchors of images": Shape(repeated(b"<a href=x><img alt=y src=z>")),
}

_REFERENCES: Final = {
    "ampersands": Shape(_attribute(b"&")), "ampersands by reference": Shape(_attribute(b"&amp;")),
    "digits of a reference": Shape(repeated(b"1", b"<a href='x&#", b"'>y</a>")),
    "hexadecimal digits of a reference": Shape(repeated(b"f", b"<a href='x&#x", b";'>y</a>")),
    "numbers without digits": Shape(_attribute(b"&#x")), "ambiguous names": Shape(_attribute(b"&notin")),
    "names without a semicolon": Shape(_attribute(b"&copy")),
    "names that are none": Shape(_attribute(b"&abcdefghijklmnopqrstuvwxyzabcdefghij")),
    "one name that ends nowhere": Shape(repeated(b"a", b"<a href='&", b"'>y</a>")),
    "carriage returns in href": Shape(_attribute(b"\r")),
    "ampersands in the text of an anchor": Shape(repeated(b"&amp", b"<a href=x>", b"</a>")),
    "references in an unquoted href": Shape(repeated(b"&quot;", b"<a href=x", b">y</a>")),
}


def _style(unit: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    return Shape(repeated(unit, b"<style>" + before, after + b"</style><a href=x>"))


def _sheet(unit: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    return Shape(repeated(unit, before, after), "text/css")


_CSS: Final = {
    "url begun": _sheet(b"url("), "url begun, spaces": _sheet(b"url( "), "url begun, quotes": _sheet(b'url("'),
    "url of spaces": _sheet(b" ", b"a{b:url(", b"x)}"), "url closed by spaces": _sheet(b" ", b"a{b:url(x", b"y)}"),
    "url of backslashes": _sheet(b"\\", b"a{b:url(", b"x)}"), "url of NUL bytes": _sheet(b"\0", b"a{b:url(", b")}"),
    "url of escapes": _sheet(b"\\41 ", b"a{b:url(", b")}"), "urls": _sheet(b"url(x)"),
    "urls that differ": Shape(numbered(b"", b"a{b:url(x%d)}"), "text/css"),
    "bad urls": _sheet(b"url(x y"), "backslashes": _sheet(b"\\"), "escaped names": _sheet(b"\\75rl("),
    "escapes in one name": _sheet(b"\\61", b"a{b:", b"(url(x))}"), "names": _sheet(b"l", b"a{b:", b"(url(x))}"), "imports": _sheet(b"@import "),
    "imports of strings": _sheet(b"@import 'x';"), "imports, comments": _sheet(b"@import/**/"),
    "import, comments": _sheet(b"/**/", b"@import ", b"'x';"), "at signs in CSS": _sheet(b"@"), "parentheses": _sheet(b"("),
    "parentheses in image-set": _sheet(b"(", b"a{b:image-set(", b")"), "image-sets": _sheet(b"image-set("),
    "image-set strings": _sheet(b"'x' 1x,", b"a{b:image-set(", b")}"), "brackets in font-face": _sheet(b"[{(", b"@font-face{"),
    "font-faces": _sheet(b"@font-face{src:url(x)}"), "namespaces": _sheet(b"@namespace "), "comments begun in CSS": _sheet(b"/*"),
    "slashes in CSS": _sheet(b"/"), "unclosed strings": _sheet(b'"\n'), "quotes": _sheet(b"'\""),
    "string of escaped newlines": _sheet(b"\\\n", b"@import '", b"x';"), "CDO tokens": _sheet(b"<!--url(x)"),
    "charset rule": Shape(repeated(b"x", b'@charset "', b'";a{b:url(x)}'), "text/css", None),
    "style of urls": _style(b"url(x)"), "style of carriage returns": _style(b"\r", b"a{b:url(x)}"),
    "style attribute of urls": Shape(repeated(b"a:url(x);", b'<p style="', b'"><a href=x>')),
    "style attribute of references": Shape(repeated(b"&#92;61 ", b'<p style="a:url(', b')"><a href=x>')),
    "style attribute of NUL bytes": Shape(repeated(b"\0", b'<p style="a:url(x)', b';b:url(y)"><a href=x>')),
    "style attributes": Shape(repeated(b"<p style=a:url(x)>")),
    "style attributes, quoted": Shape(repeated(b"<p style='a:url(&quot;x&quot;)'>")),
    "style attribute in style's srcdoc": Shape(repeated(b"<p style='a:url(x)'>\r", b'<iframe srcdoc="', b'">')),
}


def _import_map(unit: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    return Shape(repeated(unit, b"<script type=importmap>" + before, after + b"</script><a href=x>"))


_JSON: Final = {
    "brackets": _import_map(b"["), "braces": _import_map(b'{"imports":'), "brackets closed": _import_map(b"[],", b"[", b"0]"),
    "a string of backslashes": _import_map(b"\\\\", b'{"imports":{"x":"/', b'"}}'),
    "a string without an end": _import_map(b"x", b'{"imports":{"x":"'),
    "a string of escapes": _import_map(b"\\u0061", b'{"imports":{"x":"/', b'"}}'),
    "imports of modules": _import_map(b'"x":"/y",', b'{"imports":{', b'"z":"/"}}'),
    "white space in JSON": _import_map(b" ", b'{"imports":{"x":', b'"/y"}}'),
    "digits in JSON": _import_map(b"1", b'{"imports":{"x":', b"}}"), "keys in JSON": _import_map(b'"x"', b"{", b"}"),
    "colons in JSON": _import_map(b":", b"{", b"}"), "closing brackets": _import_map(b"]"),
    "speculation rules": Shape(repeated(b'"/x",', b'<script type=speculationrules>{"prefetch":[{"urls":[', b'"/y"]}]}</script><a href=x>')),
    "many import maps": Shape(repeated(b'<script type=importmap>{"imports":{"x":"/y"}}</script>')),
    "many broken import maps": Shape(repeated(b"<script type=importmap>[</script>")),
}

_META: Final = b"<meta charset=windows-1252>"
_UNDECLARED: Final = {
    "meta begun": repeated(b"<meta "), "meta elements": repeated(b"<meta>", after=b"<a href=x>"),
    "meta content": repeated(b"charset ", b"<meta http-equiv=content-type content='", b"'><a href=x>"),
    "meta attributes": numbered(b"<meta ", b"a%d=1 ", b"charset=latin1><a href=x>"),
    "meta, a comment begun": repeated(b"x", b"<!--"), "meta, comments begun": repeated(b"<!--"),
    "meta, comments ended early": repeated(b"<!-->", after=b"<a href=x>"), "meta, declarations begun": repeated(b"<!x"),
    "meta, quotes": repeated(b"<a '", after=b"<a href=x>"), "meta, quotes alternating": repeated(b"<link title=\"'\" x='"),
    "meta, scripts": repeated(b"<script>", after=b"<a href=x>"), "meta, links": repeated(b"<link href=x>"), "meta, less-than signs": repeated(b"<"),
    "meta, end tags begun": repeated(b"</a"),
    "meta in a late comment": repeated(b"<!-- x -->", after=_META + b"<a href=x>"),
    "no UTF-8": repeated(b"\xff", b"<p>", b"<a href=x>"), "UTF-8 cut off": repeated(b"\xe2\x82\xac", b"<p>", b"<a href=x>\xe2"),
}

_CHARSETS: Final = {
    **{name: Shape(make, charset=None) for name, make in _UNDECLARED.items()},
    "one-byte charset": Shape(numbered(b"", b"<a href=\xe9%d>\xe9</a>"), charset="windows-1252"),
    "one-byte charset, references": Shape(_attribute(b"\xe9&amp;"), charset="windows-1252"),
    "two-byte charset": Shape(numbered(b"", b"<a href=\x83\x5c%d>\x83\x5c</a>"), charset="shift_jis"),
    "two-byte charset, one value": Shape(_attribute(b"\x83\x5c"), charset="shift_jis"),
    "two-byte charset, srcset": Shape(_srcset(b"\x83\x5c, "), charset="shift_jis"),
    "two-byte charset, srcdoc": Shape(repeated(b"<a href=x>\x83\x5c", b'<iframe srcdoc="', b'">'), charset="shift_jis"),
    "two-byte charset, style": Shape(repeated(b"\x83\x5curl(x)", b"<style>", b"</style>"), charset="shift_jis"),
    "four-byte charset": Shape(_attribute(b"\x81\x30\x81\x30"), charset="gb18030"),
    "half characters": Shape(_attribute(b"\x83"), charset="shift_jis"),
    "shift sequences": Shape(repeated(b"\x1b$B\x1b(B", b"<p>", b"<a href=x>"), charset="iso-2022-jp"),
    "shift sequences in href": Shape(_attribute(b'\x1b$B$"\x1b(B'), charset="iso-2022-jp"),
    "shift sequences between links": Shape(repeated(b'<a href=x>\x1b$B$"\x1b(B</a>'), charset="iso-2022-jp"),
    "escapes of no shift": Shape(repeated(b"\x1b", b"<p>", b"<a href=x>"), charset="iso-2022-jp"),
    "shifted, never back": Shape(repeated(b'$"', b"<a href=x>\x1b$B", b""), charset="iso-2022-jp"),
}

_SIXTEEN_BIT: Final = (
    "base in base", "base elements", "nested div", "srcset of a and space", "links that differ",
    "links, carriage returns", "unclosed quotes", "attributes that differ", "ampersands by reference",
    "srcdoc siblings", "srcdoc with styles", "style attributes", "anchors in anchors", "one long line",
)

_UTF_8_SHAPES: Final = _BASES | _ELEMENTS | _SRCDOC | _VALUES | _MARKUP | _REFERENCES | _CSS | _JSON | _CHARSETS

SHAPES: Final[dict[str, Shape]] = (
    _UTF_8_SHAPES
    | hostile_formats.SHAPES
    | {f"UTF-16, {name}": Shape(sixteen_bit(_UTF_8_SHAPES[name].make), charset=None) for name in _SIXTEEN_BIT}
)
