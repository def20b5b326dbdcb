"""Predicates on one URL, and PrefixResolver: it gives the targets of the full algorithm where every profile appends."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from resolver_strategies import bases, references, references_of_parts

from absolve import Profile
from absolve.urls import PROFILES, identity, predicates, rfc1808, rfc3986, whatwg

SCHEMES = [
    ("", None), ("a", None), ("HTTP://h", "http"), ("svn+ssh:x", "svn+ssh"), ("a/b:c", None), ("?a:b", None), ("#a:b", None), ("1:x", None),
    (":x", None), ("a_b:c", None), ("javascript:void(0)", "javascript"),
]


@pytest.mark.parametrize(("reference", "scheme"), SCHEMES)
def test_a_scheme_is_a_name_before_a_colon(reference: str, scheme: str | None) -> None:
    assert predicates.scheme(reference) == scheme
    assert predicates.has_scheme(reference) == (scheme is not None)


def test_the_fragment_begins_after_the_first_number_sign() -> None:
    assert [predicates.split_fragment(url) for url in ("", "#", "a#b#c", "a?b")] == [("", None), ("", ""), ("a", "b#c"), ("a?b", None)]


URLS = """
a //[x http:[x mailto:[ http://h/[ http://h.example:8080/ http://1.2.3.4 file:///a app:// http://[x http:// http://h:99999/ http://1.2.3.4.5/
http://a%b/ http://h:x file://h:80/ app://[ http://u@/a http://u@v@[/a http://u@[\\@h http:////[/a app://u@[/a@h app://u\\@[/a file://u@h/a
""".split()


@pytest.mark.parametrize("url", [*URLS, "", "http://a b/", "http://\t/[/a", "http://h \t:/ "])
def test_urls_with_an_authority_that_the_url_standard_does_not_parse_are_malformed(url: str) -> None:
    assert predicates.is_malformed(url) == (whatwg.parse(url) is None and identity.site(url) is not None)


@given(
    st.one_of(
        bases,
        st.builds("http://{}".format, st.text(alphabet="ab01x.-:/?#@XN é", max_size=12)),
        st.builds("app://{}".format, st.text(alphabet="ab:/?#@[\\\t é", max_size=9)),
        st.builds("http://{}".format, st.text(alphabet="ab:/?#@[\\\t é", max_size=9)),
        st.builds("{}://{}".format, st.sampled_from(["http", "app", "file"]), st.from_regex(r"[a-z0-9.-]{1,8}(:\d{1,4})?/?", fullmatch=True)),
    )
)
def test_malformed_urls_have_an_authority_and_do_not_parse_by_the_url_standard(url: str) -> None:
    assert predicates.is_malformed(url) == (whatwg.parse(url) is None and identity.site(url) is not None)


def test_usual_urls_are_plain() -> None:
    assert all(map(predicates.is_plain, "http://h.example HTTPS://H-1.example:8080/a?b#c http://h?b http://h#c svn+ssh://h/x".split()))
    assert all(map(predicates.is_plain, "z39.50r-2://h/x http://a--b.example/ http://h/xn-- http://h--/XN--a FILE:///x http://h:1".split()))
    assert not any(map(predicates.is_plain, "abcd:///x file://h/x 1ttp://h/ http:/h http:///h http://1.2.3.4/ http://h.0x1/ http://h.".split()))
    assert not any(map(predicates.is_plain, "http://.h/ http://a..h/ http://a.1b/ http://u@h/ http://h: http://h:8o/ http://a.XN--x/".split()))


@given(
    st.sampled_from(["http", "ws", "x", "x+1", "file", "FiLe", "1x", "x_", ""]),
    st.sampled_from(["://", ":", ":/", ":///"]),
    st.lists(st.sampled_from(["a", "1", "0x1", "9", ".", "-", "--", "xn--", ":", "/", "?", "#", "@", "%", "\\", "é", "[", " "]), max_size=7).map(
        "".join
    ),
)
def test_every_plain_url_parses_and_has_an_authority(scheme: str, slashes: str, rest: str) -> None:
    url = scheme + slashes + rest
    if predicates.is_plain(url):
        assert predicates.has_scheme(url)
        assert whatwg.can_parse(url)


# --- the fast path ----------------------------------------------------------------------------------------------------

BASE = "http://h/a/b?q#f"
PACKAGES = ["package:///", "package:///p.html", "package:///OEBPS/text/p.html", "package:///a%20b//c.d/e:f"]


def by_steps(profile: str, base: str, reference: str) -> str | None:
    if profile == "rfc1808":
        return rfc1808.steps(base, rfc1808.split(base), reference)
    if profile == "rfc3986":
        return rfc3986.transform(rfc3986.split(base), reference)
    return whatwg.parse(reference, whatwg.parse(base))


@pytest.mark.parametrize("profile", PROFILES)
@given(bases, references)
@example("app:/a/b", "..//x")
@example("app:/.//a", "x")
@example("http://h", "./;x")
@example("http://h/", "a:./x")
@example("http://h/a", "a/%2e%2e/b")
@example("file:///C:/a", "/x")
@example("http://h?q", "x")
def test_prefix_resolver_gives_the_target_of_the_full_algorithm(profile: Profile, base: str, reference: str) -> None:
    assert PROFILES[profile].resolver(base)(reference) == by_steps(profile, base, reference)


@pytest.mark.parametrize("profile", PROFILES)
@given(bases, references)
def test_a_target_resolves_to_itself(profile: Profile, base: str, reference: str) -> None:
    resolver = PROFILES[profile].resolver
    settled = resolver("")(base) or base  # an empty reference keeps the path of the base unchanged
    target = resolver(settled)(reference)
    if target is not None and predicates.has_scheme(target):
        assert resolver(settled)(target) == resolver("")(target) == target


@pytest.mark.parametrize("count", [2_500, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("base", [BASE, *PACKAGES])
@pytest.mark.parametrize("profile", PROFILES)
def test_references_of_parts_lead_where_the_full_algorithm_leads(profile: Profile, base: str, count: int) -> None:
    resolve = PROFILES[profile].resolver(base)
    assert [found for found in references_of_parts(count) if resolve(found) != by_steps(profile, base, found)] == []
