"""Questions about one URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolver_strategies import bases

from absolve.resolvers import urls, whatwg

SCHEMES = [
    ("", None),
    ("a", None),
    ("HTTP://h", "http"),
    ("svn+ssh:x", "svn+ssh"),
    ("a/b:c", None),
    ("?a:b", None),
    ("#a:b", None),
    ("1:x", None),
    (":x", None),
    ("a_b:c", None),
    ("javascript:void(0)", "javascript"),
]


@pytest.mark.parametrize(("reference", "scheme"), SCHEMES)
def test_a_scheme_is_a_name_before_a_colon(reference: str, scheme: str | None) -> None:
    assert urls.scheme(reference) == scheme
    assert urls.has_scheme(reference) == (scheme is not None)


@pytest.mark.parametrize(
    ("url", "parts"), [("", ("", None)), ("#", ("", "")), ("a#b#c", ("a", "b#c")), ("a?b", ("a?b", None))]
)
def test_the_fragment_is_after_the_first_crosshatch(url: str, parts: tuple[str, str | None]) -> None:
    assert urls.split_fragment(url) == parts


HOSTS = [
    ("http://H.Example/a", "h.example"),
    ("http://h:80/a", "h"),
    ("https://h:443", "h"),
    ("https://h:80?a", "h:80"),
    ("http://h:/a", "h"),
    ("HTTP://u:p@h:8080#a@b", "h:8080"),
    ("http://[::1]:80/", "[::1]"),
    ("http://[::1]", "[::1]"),
    ("http://h\\a", "h"),
    ("app://h:80/a", "h:80"),
    ("file:///a", ""),
    ("http://MÜNCHEN.example:80/", "xn--mnchen-3ya.example"),
    ("http://münchen.example:81/", "xn--mnchen-3ya.example:81"),
    ("http://\udce9[/", "\udce9["),
    ("mailto:u@h", None),
    ("http:/a", None),
    ("//h/a", None),
    ("", None),
]


@pytest.mark.parametrize(("url", "host_port"), HOSTS)
def test_host_and_port_are_compared_without_case_and_default_port(url: str, host_port: str | None) -> None:
    assert urls.host_port(url) == host_port


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a",
        "//[x",
        "http:[x",
        "mailto:[",
        "http://h/[",
        "http://h.example:8080/",
        "http://1.2.3.4",
        "file:///a",
        "app://",
    ],
)
def test_what_parses_or_has_no_authority_is_not_malformed(url: str) -> None:
    assert not urls.is_malformed(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://[x",
        "http://",
        "http://h:99999/",
        "http://a b/",
        "http://1.2.3.4.5/",
        "http://a%b/",
        "http://h:x",
        "file://h:80/",
        "app://[",
        "http://u@/a",
        "http://u@v@[/a",
        "http://u@[\\@h",
        "http:////[/a",
        "http://\t/[/a",
        "app://u@[/a@h",
        "app://u\\@[/a",
        "file://u@h/a",
        "http://h \t:/ ",
    ],
)
def test_an_authority_that_does_not_parse_is_malformed(url: str) -> None:
    assert urls.is_malformed(url)


@given(
    st.one_of(
        bases,
        st.builds("http://{}".format, st.text(alphabet="ab01x.-:/?#@XN é", max_size=12)),
        st.builds("app://{}".format, st.text(alphabet="ab:/?#@[\\\t é", max_size=9)),
        st.builds("http://{}".format, st.text(alphabet="ab:/?#@[\\\t é", max_size=9)),
        st.builds(
            "{}://{}".format,
            st.sampled_from(["http", "app", "file"]),
            st.from_regex(r"[a-z0-9.-]{1,8}(:\d{1,4})?/?", fullmatch=True),
        ),
    )
)
def test_malformed_is_what_the_url_standard_cannot_parse(url: str) -> None:
    assert urls.is_malformed(url) == (whatwg.parse(url) is None and urls.AUTHORITY.match(url) is not None)
