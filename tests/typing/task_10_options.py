"""Pass options on through a function of one's own, with their types; list documents, verify, plan a mirror."""

from typing import Unpack

import absolve


def targets(page: bytes, **options: Unpack[absolve.Options]) -> list[str | None]:
    return [row.target for row in absolve.links(page, **options)]


page = absolve.Document(b"<title>T</title><a href=y>", url="http://example.com/", name="page.html")
assert targets(b"<a href=y>", url="http://example.com/", max_links=10) == ["http://example.com/y"]
assert [document.title for document in absolve.documents(page)] == ["T"]
assert absolve.verify(page, absolve.rewrite(page)) == []
assert absolve.resolve("http://a/b/c/d;p?q", ";x", profile="rfc1808") == "http://a/b/c/d;x"
assert dict(absolve.mirror_plan([page])) == {"http://example.com/": "example.com/index.html"}
