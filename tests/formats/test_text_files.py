"""Sitemaps as text, sitemaps and other XML in gzip, and comments that name a source map (ECMA-426)."""

import gzip
from typing import Any

import pytest

import absolve
from absolve.formats import registry, sniffing


@pytest.mark.parametrize("old", [
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://h/a</loc></url></urlset>',
    '<svg xmlns="http://www.w3.org/2000/svg"><a href="http://h/a"/></svg>', "http://h/a\nhttp://h/a\n",
])
def test_a_sitemap_in_gzip_is_compressed_again(old: str) -> None:
    data = gzip.compress(old.encode())
    options: dict[str, Any] = {"name": "x.gz", "policy": lambda _: "http://new/"}
    done = absolve.rewrite(data, **options)
    assert gzip.decompress(done) == old.replace("http://h/a", "http://new/").encode()
    assert not absolve.verify(data, done, **options)
    assert absolve.rewrite(data, name="x.gz", policy=lambda _: None) is data
    assert [row.reference for row in absolve.links(data, name="x.gz")] == ["http://h/a"] * old.count("http://h/a")


def test_a_page_that_was_downloaded_in_gzip_is_read_by_its_name() -> None:
    data = gzip.compress(b"<p><a href=x>x</a>")
    done = absolve.rewrite(data, name="a/index.html", url="http://h/")
    assert gzip.decompress(done) == b"<p><a href=http://h/x>x</a>"
    assert not absolve.verify(data, done, name="a/index.html", url="http://h/")
    for name in ("index.html.gz", "a.css"):
        with pytest.raises(absolve.DocumentError, match="by gzip"):
            absolve.rewrite(data, name=name)


def test_positions_in_gzip_are_those_of_the_document() -> None:
    data = gzip.compress(b"http://h/a\nhttp://h/b\n")
    rows = list(absolve.links(data, name="sitemap.txt.gz"))
    assert [(row.entity, row.line, row.column, row.start) for row in rows] == [("content[1]", 1, 1, 0), ("content[1]", 2, 1, 11)]
    assert [row.entity for row in absolve.documents(data, name="sitemap.txt.gz")] == ["content[1]"]


# --- source maps ---

URL = "http://h/d/a"
SCRIPT = '"use strict";\r\nexports.a = 1;\r\n//# sourceMappingURL=index.js.map'


def test_a_script_without_one_is_no_document() -> None:
    assert sniffing.sniff(b"var a;", "a.js") is None
    assert sniffing.sniff(SCRIPT.encode(), "a.JS") == registry.JAVASCRIPT
    assert sniffing.sniff(SCRIPT.encode(), "a.ts") is None


def test_the_source_map_of_a_script_with_a_long_line_or_many_lines_is_a_link_and_one_inside_is_none() -> None:
    for text in ("a/b;" * 5000, "a('//x');\n" * 5000):
        assert [row.target for row in absolve.links(f"{text}//# sourceMappingURL=a.map", name="a.js", url=URL)] == ["http://h/d/a.map"]
    inside = "//# sourceMappingURL=data:application/json;base64," + "e30=" * 2000
    assert not list(absolve.links(inside, media_type="text/javascript", url=URL))


def test_verify_sees_another_source_map() -> None:
    sheet = "a{b:c}\n/*# sourceMappingURL=style.css.map */"
    for text, name in ((SCRIPT, "a.js"), (sheet, "a.css"), (f"<base href=/b/><style>{sheet}</style><script>{SCRIPT}</script>", "a.html")):
        right = absolve.rewrite(text, url=URL, name=name)
        assert absolve.verify(text, right.replace(".map", ".mop"), url=URL, name=name)
