"""Every input that fuzzing found an invariant broken on, by target: none of them may break it again."""

from __future__ import annotations

from typing import Final

FOUND: Final[dict[str, list[bytes]]] = {
    "css": [
        b"url(\\b",  # verify: a vertical tab is no white space of CSS
        b'url("\\9',  # verify: white space that an escape writes is part of the reference
        b"url(\\20zx\\20)",
    ],
    "html": [
        b"<math><mi><div><object></div></mi><m>",  # object: no end tag reaches through it
        b"<svg><g><foreignObject><P><TABLE></table></g><g>",  # in quirks mode a table leaves a p element open
    ],
    "refresh": [
        b"0;&quot:",  # verify: a reference that the link would go on with gets its semicolon
        b"0;&quot\xd3",
    ],
    "whole": [
        b"\x86\x00<a href=\x8a>",  # verify: a byte that is no character of ISO-2022-JP was carried in two ways
        b".d<img src=\x81>",
    ],
}
