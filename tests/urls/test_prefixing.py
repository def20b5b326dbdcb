"""PrefixResolver gives the same targets as the full algorithm, for references that every profile appends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolver_strategies import bases, references, references_of_parts

from absolve import rewrite
from absolve.urls import parse as parsing
from absolve.urls import resolve, rfc1808, rfc3986, whatwg

if TYPE_CHECKING:
    from absolve import Profile

BASE = "http://h/a/b?q#f"
PACKAGES = ["package:///", "package:///p.html", "package:///OEBPS/text/p.html", "package:///a%20b//c.d/e:f"]


def by_steps(profile: str, base: str, reference: str) -> str | None:
    if profile == "rfc1808":
        return rfc1808.steps(base, parsing.split(base), reference)
    if profile == "rfc3986":
        return rfc3986.transform(rfc3986.split(base), reference)
    return whatwg.parse(reference, whatwg.parse(base)) if whatwg.parse(base) else whatwg.parse(reference)


@given(st.sampled_from(["rfc1808", "rfc3986", "whatwg"]), bases, references)
def test_prefix_resolver_gives_the_target_of_the_full_algorithm(profile: Profile, base: str, reference: str) -> None:
    assert resolve(base, reference, profile) == by_steps(profile, base, reference)


TAKEN = ["/x", "x", "?x", "#x", "./x", "../x", "../../x/y:z?a=1&b=2#c/d?e", "/", "#", "x;y", "/w/a:b", "a/b:c", "/%C3%A9"]
LEFT = ["", "?", "?#x", ";x", ".", "..", "./", "../", ".x", "x/.", "x/../y", "x/%2e%2E/y", "x:y", "1:x", "x y", "é"]
TAKEN_HOSTS = ["//h/x", "//o/", "//a-1.1b.example/x/y?z#w", "//-a/x//y"]
LEFT_HOSTS = ["//o", "//o?x", "//O/x", "//o:8/x", "//u@o/x", "///x", "//1.2.3.4/x", "//0x1/x", "//o./x", "//a..b/x", "//%6f/x"]
LEFT_HOSTS += ["//xn--a/x", "//a.xn--a/x", "//[x/y", "//o/../x", "//é/x", "//a_b/x"]


CANONICAL = ["http://h/", "https://a-1.example/x//y;z/?a=1&b='&amp;c", "http://h/x?", "http://h/x#", "http://h/%41?#?#", "mailto:a@b"]
CANONICAL += ["javascript:x('y');", "about:blank", "tel:+1-2", "a+b.c:x|y^z{}", "http://h/x?/../y#/..", "http://h/a:b@c"]
NORMALIZED = ["http://h", "HTTP://h/", "http://H/", "http://h:80/", "http://h:8/", "http://u@h/", "http://h/.", "http://h/x/../y", "http://h/%2e"]
NORMALIZED += ["http://h/x y", "http://h/x?y'z", 'http://h/x"y', "http://h/\\x", "http://h/x ", "Mailto:x", "mailto:x y", "mailto:x?y z", "http:x"]
NORMALIZED += ["http:/h/x", "http:///h/x", "https:x", "file:x", "file:///x/./y", "ws:x", "ftp:x", "data:x#y z", "x:/y/../z", "http://1.2/", "x:"]


@pytest.mark.parametrize("base", [BASE, *PACKAGES])
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("reference", [*TAKEN, *LEFT, *TAKEN_HOSTS, *LEFT_HOSTS, *CANONICAL, *NORMALIZED])
def test_prefix_and_full_resolution_give_the_same_target(profile: Profile, base: str, reference: str) -> None:
    assert resolve(base, reference, profile) == by_steps(profile, base, reference)


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("base", [BASE, PACKAGES[2]])
def test_references_of_parts_lead_where_the_url_standard_leads(base: str, count: int) -> None:
    resolver = whatwg.profile(base)
    assert [found for found in references_of_parts(count) if resolver(found) != by_steps("whatwg", base, found)] == []


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("s://x", "s://x"),
        ("javascript:x('y z')", "javascript:x('y z')"),
        ("#x", "#x"),
        ("//o/x?a&amp;b=1", "http://o/x?a&amp;b=1"),
        ("//o&#47;x", "http://o&#47;x"),
        ("//[x/y", "//[x/y"),
        ("x?a&amp;b=1&c=2", "http://h/a/x?a&amp;b=1&c=2"),
        ("../x&amp;lt;", "http://h/x&amp;lt;"),
        ("x&#47;..&#47;y", "http://h/a&#47;y"),
        ("&#104;ttp://o/", "&#104;ttp://o/"),
        ("x&sol;.&sol;y", "http://h/a/x&sol;y"),
        ("x?a&copy", "http://h/a/x?a&copy"),
        ("/x?a&copy=1", "http://h/x?a&copy=1"),
    ],
)
def test_the_shape_of_an_encoded_reference_is_that_of_its_decoded_text(written: str, changed: str) -> None:
    assert rewrite(f'<a href="{written}">', url=BASE) == f'<a href="{changed}">'
