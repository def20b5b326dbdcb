"""When a base element comes into force, and when a policy forbids it (docs/decisions.md, B23 and B24)."""

from typing import Any

import pytest

import absolve
from absolve import api
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.inventory import PROBLEMS
from tests.shapes import captures

URL = "http://h.example/dir/p.html"
BASE = '<base href="/base/">'
EARLY = (
    '<link rel=stylesheet href=a><script src=b></script><img srcset="c 1x"><style>@import "d"</style><p style="x: url(e)">'
    "<iframe srcdoc='<img src=f>'></iframe>"
)
LATE = '<a href=g>x</a><form action=h></form><object data=i></object><video src=j></video><svg><rect fill="url(k)" /></svg>'

POLICY = '<meta http-equiv="Content-Security-Policy" content="{}">'


def targets(page: Any, profile: str = "whatwg", **options: Any) -> dict[str, str | None]:
    rows = api.links(page, url=URL, profile=profile, on_diagnostic=lambda _: None, **options)  # type: ignore[arg-type]
    return {row.reference: row.target for row in rows if row.element != "base"}


@pytest.mark.parametrize(
    "page",
    [BASE + EARLY, EARLY, EARLY + "<template><base href=/t/></template>", EARLY + "<base target=x>", EARLY + "<base href='javascript:1'>"],
)
def test_without_a_base_element_behind_them_links_are_as_ever(page: str) -> None:
    folder = "base" if BASE in page else "dir"
    for profile in ("rfc1808", "whatwg"):
        assert targets(page, profile) == {name: f"http://h.example/{folder}/{name}" for name in "abcdef"}
    assert not any("before-base" in row.problems for row in api.links(page, url=URL, on_diagnostic=lambda _: None))


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
@pytest.mark.parametrize("base", ["keep", "empty"])
def test_a_rewrite_with_a_late_base_is_proved_and_changes_nothing_the_second_time(profile: Any, base: Any) -> None:
    page = f"<!DOCTYPE html><title>t</title>{EARLY}{LATE}{BASE}<img src=a>"
    found: list[Diagnostic] = []
    done = absolve.rewrite(page, url=URL, profile=profile, base=base, on_diagnostic=found.append)
    assert api.verify(page, done, url=URL, profile=profile, base=base) == []
    assert absolve.rewrite(done, url=URL, profile=profile, base=base) is done
    assert [(one.code, one.line) for one in found] == ([("before-base", 1)] if profile == "rfc1808" else [])


BEFORE = [
    "<link rel=stylesheet href=x>", "<link rel='shortcut icon' href=x>", "<link rel=preload as=font href=x>", "<link rel=modulepreload href=x>",
    "<script src=x></script>", "<iframe src=x></iframe>", "<img src=x>", "<img srcset=x>", "<style>@import 'x'</style>", "<image src=x>",
    "<style>a{b:url(x)}</style>", "<p style='a:url(x)'>", "<P STYLE = a:url(x)>", "<iframe srcdoc='<img src=x>'></iframe>", "<img src='x y'>",
    '<script type=importmap>{"imports": {"m": "./x"}}</script>', "<svg><image href=x /></svg>", "<picture><source srcset=x></picture>",
    "<svg><style>a{b:url(x)}</style></svg>", "<svg><script xlink:href=x></script></svg>", "<img src=' x'>", "<img src=?x>",
]
AFTER = [
    "<a href=x>", "<area href=x>", "<form action=x>", "<button formaction=x>", "<object data=x>", "<embed src=x>", "<video src=x>", "<track src=x>",
    "<link rel=canonical href=x>", "<svg><rect fill='url(x)' /></svg>", "<img src=http://h.example/x>", "<img src='data:,x'>", "<img src=''>",
    "<img src={{x}}>", "<style>a{b:url(#x)}</style>", '<script type=speculationrules>{"prefetch": [{"urls": ["x"]}]}</script>',
]


@pytest.mark.parametrize("page", BEFORE + AFTER)
def test_a_link_is_marked_where_browsers_resolve_it_before_they_see_the_base(page: str) -> None:
    document = Document(f"{page}<base href=http://b.example/>", media_type="text/html", url=URL)
    row = next(iter(api.links(document, on_diagnostic=lambda _: None)))
    assert ("before-base" in row.problems) == (page in BEFORE)
    assert row.problems == sorted(row.problems, key=PROBLEMS.index)


def test_a_rewrite_warns_only_where_a_url_differs() -> None:
    for early in ("<img src=/a>", "<img src=http://x.example/>", "<style>a{b:url(#c)}</style>", "<a href=a>", "<img src=''>"):
        absolve.rewrite(early + BASE, url=URL)  # a warning would be an error


CASES = [
    ("base-uri 'none'", "/base/", False), ("base-uri", "/base/", False), ("BASE-URI 'self'", "/base/", True),
    ("base-uri 'self'", "http://o.example/", False), ("base-uri http://o.example", "http://o.example/x/", True),
    ("base-uri http://o.example/y/", "http://o.example/x/", False), ("base-uri https:", "http://o.example/", False),
    ("base-uri *.example", "http://o.example/", True), ("default-src 'none'", "/base/", True), ("img-src *; base-uri 'none'", "/base/", False),
]


@pytest.mark.parametrize(("policy", "base", "allowed"), CASES)
def test_a_policy_may_forbid_a_base_element(policy: str, base: str, allowed: bool) -> None:
    page = f'<base href="{base}"><a href=a>x</a>'
    url = absolve.resolve(absolve.resolve(URL, base) or "", "a") if allowed else "http://h.example/dir/a"
    header = {"Content-Security-Policy": f"img-src *, {policy}"}
    record = captures.page(URL, page.encode(), Content_Security_Policy=policy)
    assert targets(POLICY.format(policy) + page) == targets(page, headers=header) == {"a": url}
    assert {row.target for row in api.links(record, profile="browser", on_diagnostic=lambda _: None) if row.element == "a"} == {url}
