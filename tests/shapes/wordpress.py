"""A WordPress export (WXR), made from a seed: posts with blocks, shortcodes, galleries, serialized meta, many alphabets.

The same values are also made as a dump of the database (`dump`) and as CSV (`table`). The host is old.example.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any, Final

URL: Final = "http://old.example"
WORDS: Final = ("lorem", "ipsum", "café", "naïve", "Ölfarbe", "перевод", "東京", "🖖", "it's", '"so"', "a & b", "C:\\new", "x]]>y")
# What no rewrite may change: other hosts, an e-mail address, a host alone
OTHERS: Final = ("http://old.example.org/x", "http://www.old.example/", "me@old.example", "old.example", "http://other.example/")
LEFT: Final = re.compile(rb"old\.example\.org|www\.old\.example|me@old\.example|(?<=<b>)old\.example")


def serialized(value: Any) -> bytes:
    """Return a value as PHP's `serialize` writes it; a dict is an array, a list an array with numbers."""
    if isinstance(value, bool):
        return b"b:%d;" % value
    if isinstance(value, int):
        return b"i:%d;" % value
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return b's:%d:"%b";' % (len(data), data)
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    inside = b"".join(serialized(key) + serialized(one) for key, one in pairs)
    return b"a:%d:{%b}" % (len(value), inside)


def values(chance: random.Random, number: int) -> list[bytes]:
    """Return the meta values of a post."""
    picture = f"{URL}/wp-content/uploads/2020/{number % 12 + 1:02}/{chance.choice(WORDS[2:8])}-{number}.jpg"
    text = " ".join(chance.choices(WORDS, k=9)) + f' <a href="{URL}/{number}">{URL}</a>\r\n'
    sizes = {name: {"file": f"{number}-{name}.jpg", "width": width, "url": picture} for name, width in (("thumb", 150), ("large", 1024))}
    widget = {"title": chance.choice(WORDS), "text": text, "link": f"//old.example/{number}", "filter": True}
    builder = json.dumps([{"id": f"{number:x}", "settings": {"image": {"url": picture}, "html": text, "css": f"a{{b:url({picture})}}"}}])
    return [
        serialized({"width": 2000, "file": picture, "sizes": sizes, "caption": text}),
        serialized({"widgets": serialized(widget), "twice": serialized({"more": serialized([picture, text])}), "empty": ""}),
        builder.replace("/", "\\/").encode(),
        serialized({"data": builder.replace("/", "\\/"), "share": f"https://f.example/?u={URL.replace(':', '%3A').replace('/', '%2F')}%2F{number}"}),
        picture.encode(),
        b'O:8:"My_Class":2:{s:3:"url";%bs:4:"code";s:%d:"%b";}' % (serialized(picture), len(text.encode()), text.encode()),
    ]


def content(chance: random.Random, number: int) -> str:
    picture = f"{URL}/wp-content/uploads/{number}.jpg"
    attributes = json.dumps({"id": number, "url": picture, "alt": chance.choice(WORDS[:10])}).replace("--", "\\u002d\\u002d").replace("&", "\\u0026")
    return "\n".join([
        f'<!-- wp:image {attributes} -->\n<figure><img src="{picture}" srcset="{picture} 1x, {picture}?w=2 2x" data-full="{picture}"></figure>\n<!-- /wp:image -->',
        f'<!-- wp:paragraph -->\n<p>{chance.choice(WORDS[:8])} {URL}/{number}/, <a href="{URL}/?p={number}&amp;x=1">{URL}</a></p>\n<!-- /wp:paragraph -->',
        f'[gallery ids="1,2" link="{URL}/g/{number}"][video src="{URL}/v.mp4"][vc_row css=".a{{background:url({picture}?id={number})}}"]',
        f"<div data-settings='{{\"u\":\"{picture}\"}}' style=\"--bg:url({picture})\" data-x=\"{{&quot;u&quot;:&quot;{picture.replace('/', chr(92) + '/')}&quot;}}\"></div>",
        f'<script>var ajax = {{"url":"{URL.replace("/", chr(92) + "/")}\\/wp-admin\\/admin-ajax.php","x":"//old.example/{number}"}};</script>',
        f"<p>{chance.choice(OTHERS[:3])} <b>{OTHERS[3]}</b></p>",
    ])  # fmt: skip


def cdata(text: bytes) -> bytes:
    return b"<![CDATA[" + text.replace(b"]]>", b"]]]]><![CDATA[>") + b"]]>"


HEAD: Final = """<?xml version="1.0" encoding="UTF-8" ?>
<!-- generator="WordPress/6.5" -->
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wp="http://wordpress.org/export/1.2/"
 xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"><channel><title>T</title><link>URL</link>
<wp:base_site_url>URL</wp:base_site_url><wp:base_blog_url>URL/blog</wp:base_blog_url>
"""
ITEM: Final = b"""<item><title>%d</title><link>URL/%d/</link><guid isPermaLink="false">URL/?p=%d</guid>
<content:encoded>%b</content:encoded><excerpt:encoded>%b</excerpt:encoded>
%b</item>
"""
META: Final = b"<wp:postmeta><wp:meta_key><![CDATA[k]]></wp:meta_key>\n<wp:meta_value>%b</wp:meta_value></wp:postmeta>\n"


def export(posts: int, seed: int = 1) -> bytes:
    """Return the export of a site with this many posts."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    head = HEAD.replace("URL", URL).encode()
    return head + b"".join(item(chance, number) for number in range(posts)) + b"</channel></rss>\n"


def item(chance: random.Random, number: int) -> bytes:
    meta = b"".join(META % cdata(value) for value in values(chance, number))
    texts = (cdata(content(chance, number).encode()), cdata(f"{URL}/{number}".encode()))
    return ITEM.replace(b"URL", URL.encode()) % (number, number, number, *texts, meta)


ESCAPES: Final = {b"\\": b"\\\\", b"'": b"\\'", b'"': b'\\"', b"\n": b"\\n", b"\r": b"\\r"}


def dump(posts: int, seed: int = 1) -> bytes:
    """Return the meta values as mysqldump writes them."""
    chance = random.Random(seed)  # noqa: S311 - likewise
    rows = [b"(%d,'%b')" % (number, re.sub(rb"[\\'\"\r\n]", lambda found: ESCAPES[found[0]], value)) for number in range(posts) for value in values(chance, number)]
    return b"".join(b"INSERT INTO `wp_postmeta` VALUES %b;\n" % b",".join(rows[at : at + 50]) for at in range(0, len(rows), 50))


def table(posts: int, seed: int = 1) -> bytes:
    """Return the meta values as CSV."""
    chance = random.Random(seed)  # noqa: S311 - likewise
    return b"".join(b'%d,"%b"\r\n' % (number, value.replace(b'"', b'""')) for number in range(posts) for value in values(chance, number))
