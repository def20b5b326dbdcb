"""robots.txt, sitemaps as text, sitemaps and other XML in gzip."""

import gzip
from typing import Any

import pytest

import absolve


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
        with pytest.raises(absolve.DocumentError, match="compressed by gzip"):
            absolve.rewrite(data, name=name)


def test_positions_in_gzip_are_those_of_the_document() -> None:
    data = gzip.compress(b"http://h/a\nhttp://h/b\n")
    rows = list(absolve.links(data, name="sitemap.txt.gz"))
    assert [(row.entity, row.line, row.column, row.start) for row in rows] == [("content[1]", 1, 1, 0), ("content[1]", 2, 1, 11)]
    assert [row.entity for row in absolve.documents(data, name="sitemap.txt.gz")] == ["content[1]"]
