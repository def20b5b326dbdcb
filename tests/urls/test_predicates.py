"""Predicates on one URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolver_strategies import bases

from absolve.urls import identity, predicates, whatwg

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
