"""Sixteen tasks of the library as type checkers see them; they run, too."""
# The stubs of lxml leave types open:
# pyright: reportUnknownMemberType=false

import json
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import lxml.html

import absolve
from absolve.trees import base, links, make_links_absolute

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "fixtures" / "journal.warc"
MOVE = ROOT / "examples" / "move"
SITE = MOVE / "new"


def task_rewrite() -> None:
    """Make the links of a page absolute: bytes for bytes, str for str."""
    page: bytes = absolve.rewrite(b"<a href=y>", url="http://example.com/dir/page.html")
    text: str = absolve.rewrite("<a href=y>", url="http://example.com/dir/page.html", profile="whatwg", fragments="absolute")
    assert page == text.encode() == b"<a href=http://example.com/dir/y>"


def task_links() -> None:
    """List the links of a page, and select among them by words that a type checker knows."""
    wanted: set[absolve.Problem] = {"unresolved", "malformed"}
    found: list[tuple[absolve.Kind, absolve.Scope, str | None]] = []
    for row in absolve.links(b"<base href=/x/><a href=y>", url="http://example.com/"):
        layer: absolve.Layer = row.base_layer
        if row.element == "a" and not wanted.intersection(row.problems) and layer is absolve.Layer.EMBEDDED:
            found.append((row.kind, row.scope, row.target))
    assert found == [("navigation", "internal", "http://example.com/x/y")]


def task_base() -> None:
    """Find the base URL of a page, and why; rows and bases have one type of layer."""
    base: absolve.BaseURL = absolve.base("<base href='/x/'><a href=y>", url="http://example.com/")
    layer: absolve.Layer = base.layer
    assert (base.url, layer) == ("http://example.com/x/", "embedded")
    verdicts: list[tuple[absolve.Layer, str]] = [(outcome.base.layer, outcome.verdict) for outcome in base.chain]
    assert verdicts == [(absolve.Layer.EMBEDDED, "won"), (absolve.Layer.RETRIEVAL, "resolved against")]
    assert absolve.links("<base href='/x/'>", url="http://example.com/")[0].base_layer == absolve.Layer.RETRIEVAL


def task_policy() -> None:
    """Write links by a policy of one's own, and by rules for old URLs."""

    def images_by_proxy(link: absolve.Resolved) -> str | None:
        return f"https://proxy.example/?{link.target}" if link.target and link.kind == "image" else None

    policy: absolve.Policy = absolve.only(absolve.remap({"//old.example": "https://new.example"}), kind="navigation")
    page = "<a href=http://old.example/x><img src=http://old.example/y>"
    assert absolve.rewrite(page, policy=images_by_proxy).endswith("<img src=https://proxy.example/?http://old.example/y>")
    assert absolve.rewrite(page, policy=policy) == "<a href=https://new.example/x><img src=http://old.example/y>"


def task_response() -> None:
    """Use the header of an HTTP response: its charset, its bases, its links, the last URL of its redirects."""
    header = "HTTP/1.1 301 Moved\r\nLocation: /new/\r\n\r\nHTTP/1.1 200 OK\r\nLink: <s.css>; rel=stylesheet\r\n\r\n"
    rows = list(absolve.links(b"<a href=x>", url="http://example.com/old", headers=header))
    assert [row.target for row in rows if row.kind != "metadata"][-1] == "http://example.com/new/x"
    fields = {"Content-Type": "text/html; charset=koi8-r", "Content-Base": "http://example.com/b/"}
    assert absolve.base("<a href=x>".encode("koi8-r"), headers=fields).layer is absolve.Layer.ENCAPSULATING


def task_files() -> None:
    """Rewrite a file, and list the links of a folder."""
    with TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        page.write_text("<a href=x><img src=y>", "utf-8")
        changed: bool = absolve.rewrite_file(page, url="http://example.com/", kind=["image"], backup=".orig")
        assert changed
        targets = [row.target for row in absolve.walk_links(folder, include="*.html", url="http://example.com/", scope="internal")]
        assert targets == ["http://example.com/x", "http://example.com/y"]


def task_diagnostics() -> None:
    """Read what absolve reports about a page."""
    reported: list[absolve.Diagnostic] = []
    absolve.rewrite("<a href=x>", name="page.html", on_diagnostic=reported.append)
    assert [(one.code, one.name, one.failed) for one in reported] == [("no-base", "page.html", False)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        absolve.rewrite("<a href=x>")
    assert isinstance(caught[0].message, absolve.DiagnosticWarning)
    assert caught[0].message.diagnostic.code == "no-base"


def task_trees() -> None:
    """Make the links of a tree of lxml absolute."""
    tree = lxml.html.document_fromstring("<a href=y>")
    assert [row.target for row in links(tree, "http://example.com/", profile="rfc3986")] == ["http://example.com/y"]
    assert make_links_absolute(tree, "http://example.com/", fragments="keep") is tree
    assert base(tree, "http://example.com/").url == "http://example.com/"


def task_errors() -> None:
    """Catch the errors: of a call, of a document, of a package that is missing."""
    try:
        absolve.rewrite(b"\x89PNG\r\n\x1a\n", name="picture.png")
    except absolve.DocumentError as error:
        diagnostic: absolve.Diagnostic = error.diagnostic
        assert diagnostic.code == "unknown-media-type"
    try:
        absolve.rewrite("<a href=x>", url="page.html")
    except absolve.UsageError as error:
        assert "absolute URL" in error.message  # noqa: PT017 - an example, not a test
    assert issubclass(absolve.MissingPackageError, ImportError)
    assert issubclass(absolve.MissingPackageError, absolve.AbsolveError)


def task_options() -> None:
    """Pass options on through a function of one's own, with their types; list documents, verify, plan a mirror."""

    def targets(page: bytes, **options: Unpack[absolve.Options]) -> list[str | None]:
        return [row.target for row in absolve.links(page, **options)]

    page = absolve.Document(b"<title>T</title><a href=y>", url="http://example.com/", name="page.html")
    assert targets(b"<a href=y>", url="http://example.com/", max_links=10) == ["http://example.com/y"]
    assert [document.title for document in absolve.documents(page)] == ["T"]
    assert absolve.verify(page, absolve.rewrite(page)) == []
    assert absolve.resolve("http://a/b/c/d;p?q", ";x", profile="rfc1808") == "http://a/b/c/d;x"
    assert dict(absolve.mirror_plan([page])) == {"http://example.com/": "example.com/index.html"}


def task_mirror() -> None:
    """Make a mirror of an archive, and list what it lacks."""
    with TemporaryDirectory() as folder:
        mirror: absolve.Mirror = absolve.mirror(CAPTURE, Path(folder, "mirror"), absent="sever")
        titles: list[str] = [page.title or page.url for page in mirror.pages]
        assert titles == ["July"]
        kinds = Counter(url.kind for url in mirror.missing)
        assert kinds == {"navigation": 1, "image": 1}
        assert not mirror.failures


def task_mirror_documents() -> None:
    """Make one file of pages that are in memory, as a program has them that fetched them itself."""
    pages = {"http://h/a.html": '<title>A</title><img src="i.png">', "http://h/b.html": '<a href="a.html">a</a>'}
    documents = [absolve.Document(text, url=url) for url, text in pages.items()]
    documents.append(absolve.Document(b"\x89PNG\r\n\x1a\n", url="http://h/i.png", media_type="image/png"))
    with TemporaryDirectory() as folder:
        target = Path(folder) / "site.zip"
        made = absolve.mirror(documents, target)
        paths: dict[str, str] = {page.url: page.path for page in made.pages}
        assert paths == {"http://h/a.html": "h/a.html", "http://h/b.html": "h/b.html"}
        assert target.stat().st_size > 0
        one = absolve.mirror(documents, Path(folder) / "a.html", start="http://h/a.html")
        assert b"data:image/png" in Path(one.output).read_bytes()


def task_mirror_plan() -> None:
    """Rewrite pages by the plan of a mirror, and write them where this program wants them."""
    page = absolve.Document(b"<a href=b.html>b</a>", url="http://h/a.html")
    other = absolve.Document(b"<a href=a.html>a</a>", url="http://h/b.html")
    plan: absolve.MirrorPlan = absolve.mirror_plan([page, other])
    made: dict[str, bytes] = {}
    for document in (page, other):
        url = str(document.url)
        made[plan[url]] = absolve.rewrite(document, policy=plan.policy(url), base="empty", profile="whatwg")
    assert sorted(made) == ["h/a.html", "h/b.html"]


def task_link_check() -> None:
    """Check the links of a site, and fail as a test does."""
    audit: absolve.Audit = absolve.audit(SITE, url="https://bay.example/", server="plain", ignore=["/never/"])
    broken = [finding for finding in audit.findings if finding.verdict == "broken"]
    places: list[tuple[str, int | None]] = [(Path(one.document).name, one.line) for one in broken]
    assert len(places) == 2
    assert audit.links == 30
    assert not audit.urls


def task_audit() -> None:
    """Audit a migration, write a report, and print the causes by their reach."""
    with TemporaryDirectory() as folder:
        audit = absolve.audit(
            MOVE / "new", url="https://bay.example/", old=MOVE / "old", old_url=["http://old.bay.example/"], maps=[MOVE / "redirects.csv"],
            output=[Path(folder, "report.html"), Path(folder, "findings.jsonl")],
        )
        assert [path.name for path in audit.written] == ["report.html", "findings.jsonl"]
    worst = max(audit.causes, key=lambda cause: cause.links + cause.pages)
    assert worst.verdict == "leftover"
    assert worst.final is not None
    lost = {url.url: url.suggestion for url in audit.urls if url.verdict == "lost"}
    assert list(lost) == ["http://old.bay.example/towers/south.html"]


def task_schema() -> None:
    """Give a table of a database the columns of a row, by its JSON Schema."""
    schema: dict[str, Any] = absolve.schema("links")
    assert schema["version"] == 1
    columns = [name for name in absolve.Row._fields if name in schema["properties"]]
    assert columns == list(absolve.Row._fields)
    assert json.loads(json.dumps(schema)) == schema

