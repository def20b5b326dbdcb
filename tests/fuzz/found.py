"""Every input on which fuzzing found a violated invariant, by target: regression tests."""

from typing import Final

FOUND: Final[dict[str, list[bytes]]] = {
    "css": [
        b"url(\\b",  # verify: a vertical tab is no white space of CSS
        b'url("\\9',  # verify: white space written by an escape is part of the reference
        b"url(\\20zx\\20)", b"url('\\b",
        b"@font-face({url(",  # tinycss2: the walker does not track preludes with blocks
        b"@font-face ''({url(", b"@font-face url({)}{url(", b'@font-face ({"\\b"url(',
        b'@namespace@import"',  # @import in the prelude of another rule is ignored
    ],
    "html": [
        b"<math><mi><div><object></div></mi><m>",  # object: no end tag reaches through it
        b"<math><mi><div><object></div/></mi><m>",
        b"<svg><g><foreignObject><P><TABLE></table></g><g>",  # in quirks mode a table leaves a p element open
        b"<table><td><svg><td><desc><td>",  # html5lib: the HTML cell ends, not the one of SVG
        b"<table><tr><svg><tr><desc><td><td>", b"<table><caption><svg><caption><desc><td>",
        b"<select><template><td></template><select>",  # a cell in a template ends no select around that
    ],
    "values": [
        b"0;&quot:",  # verify: a following reference of the link gets its semicolon
        b"0;&quot\xd3", b"0;&quot\x00", b"5\n&quot/", b"5\r\r\r\n&quot\x00\x00\x1a",
    ],
    "documents": [
        # verify: two headers that no empty line ends, so that the second is a part; --url leads its base and so its link to the web
        b"\3\0\2--B\nContent-Location: p:/x\nBase: <URL:y>\nLink: <x>\n",
        b"\3\0\1Content-Type: message/rfc822\n--B\nBase: <URL:y>\nLink: <x>\nContent-Location: p:/x\n",
        b"\3\0\x10t:\nBase:p:/\nContent-Location: \xe0\xc9\xaa",  # verify: email decoded UTF-8 in a field to another reference
        b"\3\0\x10F:\nContent-Type:multipart/;boundary=B\n--B\nContent-Type:text/html\nContent-Location:p:/\n<a href=i>\n--B\r\r",
        b"\5\0\x10HTTP/1 200 \nBase:p:/\n8\nLink:<x>",  # verify: for http.client no fields follow a line that is no field
        b"\3\0\0Base:\0/\nLink:<\x94>",  # verify: in fields, too, the reference keeps its bytes
        # verify: warcio splits these records differently
        b"\6\0\x10WARC/1.0\n\nWARC/1.0\nWARC-Type:resource\nWARC-Target-URI:p:/\nContent-Type:text/html\nContent-Length:48\n\n<base href='b/'><a href='x'>y</a><img src=cid:z>",
        # verify: an unchanged record had the same block as the next one
        b"\6\0\x10WARC/1.0\nContent-Length:48\n\n<base href='b/'><a href='x'>y</a><img src=cid:z>\nWARC/1.0\nWARC-Type:resource\nWARC-Target-URI:p:/\nContent-Type:text/html\nContent-Length:48\n\n<base href='b/'><a href='x'>y</a><img src=cid:z>",
        # verify: warcio fails on a response without a URL
        b"\6\0\x10WARC/1.0\nWARC-Type:response\nContent-Length:68\n\nHTTP/1.1 200\r\nBase: http://h/\r\nContent-Type: text/html\r\n\r\n<a href=x>\r\n",
        b"\0\6\0<a href=\x8a>",  # verify: an invalid byte in ISO-2022-JP was decoded in two ways
        b"\0\6a<img src=\x81>",
        b"\0\4\x08<base href=\xfe\x00/><a href=\xb1\x00>",  # target: half a character before U+FFFD becomes another one
        b'\0\x049\n<base href=p:/\x00\xfe\x00\x00/">\n<a href=" \xb3\x00l>">\r',
    ],
}
