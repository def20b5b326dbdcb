"""Lists of the old site as programs export them: which URLs they have, and how often each was asked for."""

import gzip
from contextlib import closing
from pathlib import Path

import pytest
from audited import NEW, OLD, links, run, written

from absolve.audit import load, sites, url_lists
from absolve.core.errors import DocumentError
from absolve.document.settings import Settings
from tests.shapes.captures import zipped

UA = '# ---\n# Pages\n# ---\n\nPage,Pageviews,Unique Pageviews\n/a,"1,234",3\n/b?x=1,7,1\n(other),9,1\n,"1,250",4\n\nDay Index,Pageviews\n1/1/19,23\n'
LOG = (
    '127.0.0.1 - - [10/Oct/2023:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326\n'
    '127.0.0.1 - bob [10/Oct/2023:13:55:36 -0700] "GET /a HTTP/1.0" 304 0 "-" "a \\"browser\\""\n'
    '127.0.0.1 - - [10/Oct/2023:13:55:36 -0700] "GET /none HTTP/1.0" 404 2326\n'
    '127.0.0.1 - - [10/Oct/2023:13:55:36 -0700] "POST /form HTTP/1.0" 200 2326\n'
    '::1 - - [10/Oct/2023:13:55:36 -0700] "GET /d HTTP/2.0" 301 2\n\\x16\\x03 no request\n'
)
CADDY = '{"request": {"method": "GET", "host": "old.example", "uri": "/j"}, "status": 200}\n{"request": {"method": "GET", "host": "old.example", "uri": "/no"}, "status": 404}\n'
CDX = " CDX N b a m s k r M S V g\nexample,old)/a 20200101000000 http://old.example/c text/html 200 ABC - - 1 2 x.warc\nexample,old)/b 20200101000000 http://old.example/no text/html 404 ABC - - 1 2 x.warc\n"
CDX_JSON = '[["urlkey", "timestamp", "original", "mimetype", "statuscode"],\n["example,old)/a", "2020", "http://old.example/w", "text/html", "200"],\n["example,old)/b", "2020", "http://old.example/no", "text/html", "404"]]'
SITEMAP = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">'
    f"<url><loc>{OLD}a</loc><i:image><i:loc>{OLD}i.png</i:loc></i:image><i:image><i:loc>https://cdn.example/i.png</i:loc></i:image></url></urlset>"
)
EXPORT = {
    "Queries.csv": "Top queries,Clicks,Impressions\nold.example,3,4\n", "Pages.csv": f"Top pages,Clicks,Impressions\n{OLD}a,12,13\n{OLD}b,1234,1300\n",
    "Countries.csv": "Country,Clicks,Impressions\nPeru,3,4\n", "Filters.csv": "Filter,Value\nSearch type,Web\n",
}
LISTS: dict[str, tuple[str, str | bytes, dict[str, int | None]]] = {
    "search console": ("t.csv", f'Top pages,Clicks,Impressions,CTR,Position\n{OLD}a,12,"1,200",1%,2.1\n{OLD}b,"1,234",3,1%,2\n', {"b": 1234, "a": 12}),
    "analytics": ("t.csv", UA, {"a": 1234, "b?x=1": 7}),
    "GA4, with hosts": ("t.csv", "# Pages\nPage path and screen class,Views,Users\n/a,1,2\nold.example/b,3,3\n", {"b": 3, "a": 1}),
    "Fathom": ("t.csv", "Hostname,Pathname,Views,Uniques\nhttps://old.example,/f,3,4\n", {"f": 3}),
    "a crawl": ("t.csv", f'"Address","Content","Status Code","Status"\n"{OLD}a","text/html","200","OK"\n"{OLD}no","text/html","404","Not Found"\n', {"a": None}),
    "backlinks": ("t.tsv", f"Referring page URL\tTarget URL\tTraffic\nhttp://x.example/p\t{OLD}a\t12\n".encode("utf-16"), {"a": 12}),
    "combined log": ("access.log", LOG, {"a": 2, "d": 1}),
    "log in gzip": ("access.log.1.gz", gzip.compress(LOG.encode()), {"a": 2, "d": 1}),
    "log with hosts": ("x.log", 'old.example:443 1.2.3.4 - - [10/Oct/2023:13:55:36 -0700] "GET /v HTTP/1.0" 200 2326 "-" "x"\n', {"v": 1}),
    "JSON of Caddy": ("x.json", CADDY, {"j": 1}),
    "JSON of nginx": ("x.log", '{"request": "GET /n HTTP/1.1", "status": "200"}\n', {"n": 1}),
    "IIS": ("u.log", "#Version: 1.0\n#Fields: date cs-method cs-uri-stem cs-uri-query sc-status\n2023-01-01 GET /w.aspx id=1 200\n2023-01-01 GET /no - 404\n", {"w.aspx?id=1": 1}),
    "CDX": ("i.cdx", CDX, {"c": None}),
    "CDXJ": ("i.cdxj", 'example,old)/a 20200101000000 {"url": "http://old.example/c", "status": "200"}\n', {"c": None}),
    "CDX server": ("cdx.json", CDX_JSON, {"w": None}),
    "backlinks from pages that are gone": ("t.csv", f"Referring page URL,Referring page HTTP code,Target URL\nhttp://x.example/p,404,{OLD}a\n", {"a": None}),
    "a sitemap with images of a CDN": ("s.xml", SITEMAP, {"a": None, "i.png": None}),
    "a search console, as it comes": ("export.zip", zipped(EXPORT), {"b": 1234, "a": 12}),
    "robots.txt": ("robots.txt", f"User-agent: *\nDisallow: /x\nSitemap: {OLD}sitemap.xml\n", {"sitemap.xml": None}),
    "paths": ("list.txt", "/a\n/b\n", {"a": None, "b": None}),
    "a date is no number": ("table.csv", f"URL,Last crawled\n{OLD}a,2024-01-02\n{OLD}b,2024-01-03\n", {"a": None, "b": None}),
    "the number comes first": ("pages.csv", "# ---\n# Pages\n\nViews;Page path\n120;/a\n7;/b\n", {"a": 120, "b": 7}),
    "hosts without a scheme": ("hosts.txt", "old.example/a\nold.example/b\n", {"a": None, "b": None}),
    "URLs in quotes": ("quoted.txt", f'"{OLD}a",\n"{OLD}b",\n', {"a": None, "b": None}),
    "texts of JSON": ("texts.json", f'["{OLD}a", "/b"]', {"a": None, "b": None}),
    "texts of JSON by line": ("texts.txt", '[\n"/a",\n"/b"\n]\n', {"a": None, "b": None}),
    "titles with commas": ("pages.tsv", 'Title\tPath\n"one, two"\t/a\nthree\t"/b"\n', {"a": None, "b": None}),
}  # fmt: skip


def test_a_folder_of_tables_is_an_export(tmp_path: Path) -> None:
    root = written(tmp_path, {"new/index.html": links("/"), **{f"export/{name}": text for name, text in EXPORT.items()}})
    done = run(tmp_path, root / "new", "--url", NEW, "--old", root / "export", "--old-url", OLD)
    assert [(row["url"], row["requests"]) for row in done.tables["urls"]] == [(f"{OLD}b", 1234), (f"{OLD}a", 12)]
    assert done.status == 1


@pytest.mark.parametrize("what", LISTS)
def test_a_list_of_the_old_site_has_its_urls_and_their_requests(tmp_path: Path, what: str) -> None:
    name, data, expected = LISTS[what]
    ((path, kind),) = sites.sorted_out([str(written(tmp_path, {name: data}) / name)]).lists
    with closing(load.connect(str(tmp_path), 1, on_disk=False)) as connection:
        load.begin(connection, load.OLD)
        url_lists.add(connection, load.OLD, path, kind, Settings(), lambda _: None, OLD)
        requests = "(SELECT sum(number) FROM old_requests r WHERE r.url = d.url)"
        rows = connection.execute(f"SELECT url, {requests} FROM old_documents d WHERE url LIKE '%//old.example/%'").fetchall()  # noqa: S608
    assert {url.partition("old.example/")[2]: number for url, number in rows} == expected


def test_a_log_of_several_hosts_needs_no_url() -> None:
    log = url_lists.Log("log", None)
    day = '[10/Oct/2023:13:55:36 -0700] "GET /v HTTP/1.0" 200 1'
    lines = {f"old.example:443 1.2.3.4 - - {day}": "//old.example/v", f"old.example ::1 - - {day}": "//old.example/v", f"1.2.3.4 - a b {day}": "/v"}
    lines |= {f"1.2.3.4 2607:5300:: - - {day}": "/v", f"crawl7.bot.example - - {day}": "/v", '1.2.3.4 - [2022-08-23 10:54:19.786 +0200] "GET /d HTTP/1.1" 200 6': "/d"}
    assert {line: log.url(line.encode()) for line in lines} == lines
    assert {url_lists.log_kind(line.encode()) for line in lines} == {"log"}


@pytest.mark.parametrize("line", [b"a" * 60_000, b"1 - - [" * 9000, b"x " * 30_000, b'{"a": ' * 10_000, b'1 - - [] "GET ' + b"/" * 60_000])
def test_a_long_line_takes_linear_time(line: bytes) -> None:
    assert url_lists.log_kind(line) is None
    assert [url_lists.Log(kind, None).url(line) for kind in url_lists.KINDS] == [None] * len(url_lists.KINDS)


def test_a_log_that_is_a_bomb_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_lists, "_LARGEST", 1 << 20)
    path = tmp_path / "access.log.gz"
    path.write_bytes(gzip.compress((LOG + "\n" * (1 << 22)).encode()))
    with path.open("rb") as file, pytest.raises(DocumentError, match="compressed more than"):
        list(url_lists._read_log("access.log.gz", "log", file, lambda _: None, OLD))
