"""When two URLs are the same: one table, judged by everything that compares URLs."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.mirror.lookup import Equivalences
from absolve.rewriting.remap import Remapping
from absolve.urls import identity, whatwg

SITES = [
    ("http://h:80/", "http://h/", True),
    ("https://h:443/", "https://h/", True),
    ("https://h:80/", "https://h/", False),  # a browser speaks TLS to port 80
    ("http://h:443/", "http://h/", False), ("http://h:80/", "https://h:443/", True), ("http://h:8080/", "http://h/", False),
    ("http://h:/", "http://h/", True), ("http://H.Example/", "http://h.example/", True), ("http://h.example./", "http://h.example/", True),
    ("http://h.example.:8080/", "http://h.example:8080/", True), ("http://u:p@h/", "http://h/", True),
    ("http://bücher.example/", "http://xn--bcher-kva.example/", True), ("http://BÜCHER.example:80/", "http://bücher.example/", True),
    ("http://b%C3%BCcher.example/", "http://bücher.example/", True),
    ("http://faß.example/", "http://fass.example/", False),  # UTS 46, not transitional
    ("http://0x7f.1/", "http://127.0.0.1/", True), ("http://[0:0::1]:80/", "http://[::1]/", True), ("http://www.h/", "http://h/", False),
]
PATHS = [
    ("/a%7Eb", "/a~b", True), ("/a%c3%a9", "/a%C3%A9", True), ("/a%20b", "/a b", True),
    ("/a%20b/%E9", "/a b/%e9", True),  # bytes that are no UTF-8 stay, and the rest is decoded
    ("/caf%E9", "/caf%C3%A9", False),
    ("/%2561", "/%61", False),  # decoded once
    ("/%2561", "/a", False), ("/%25zz", "/%zz", True), ("/a%2Fb", "/a/b", False), ("/a%2fb", "/a%2Fb", True), ("/a%3Fb", "/a?b", False),
    ("/a%01b", "/a%2Fb", False), ("/A", "/a", False), ("/a/", "/a", False),
    ("/a+b", "/a%20b", False),  # a plus is a space only in a form
]


def bare(url: str) -> str:
    """Return a URL without user information, which a mirror compares, too."""
    return (identity.normal(url) or "").replace("u:p@", "")


def is_found(one: str, other: str) -> bool:
    """Return whether a mirror that holds one URL finds the other."""
    same, held, asked = Equivalences(), bare(one), bare(other)
    return bool({held, *same.forms(held, is_file=True)} & {asked, *(form for rule, form in same.others(asked) if rule != "encoding")})


@pytest.mark.parametrize(("one", "other", "are_same"), SITES)
def test_the_same_site_is_the_same_for_all_that_compares_urls(one: str, other: str, *, are_same: bool) -> None:
    assert (identity.site(one) == identity.site(other)) is are_same
    assert is_found(one, other) is are_same
    rule = Remapping([(other, "http://new.example/")])
    assert (rule(one.replace("u:p@", "")) is not None) is (are_same and one.startswith(f"{other.partition(':')[0]}:"))


@pytest.mark.parametrize(("one", "other", "are_same"), PATHS)
def test_a_path_is_compared_as_servers_decode_it(one: str, other: str, *, are_same: bool) -> None:
    assert (identity.key(f"http://h{one}") == identity.key(f"http://h{other}")) is are_same
    assert is_found(f"http://h{one}", f"http://h{other}") is are_same


FORMS: list[tuple[Callable[[str], object], dict[str, object]]] = [
    (identity.site, {  # a host in lower case with a port that is not the default
        "http://H.Example/a": "h.example", "http://h:80/a": "h", "https://h:443": "h", "https://h:80?a": "h:80", "http://h:/a": "h",
        "HTTP://u:p@h:8080#a@b": "h:8080", "http://[::1]:80/": "[::1]", "http://[::1]": "[::1]", "http://h\\a": "h", "app://h:80/a": "h:80",
        "file:///a": "", "http://MÜNCHEN.example:80/": "xn--mnchen-3ya.example", "http://münchen.example:81/": "xn--mnchen-3ya.example:81",
        "http://\udce9[/": "\udce9[", "mailto:u@h": None, "http:/a": None, "//h/a": None, "": None,
    }),
    (identity.named, {"https://h:80/": "h", "http://h:443/": "h", "http://h.:8080/": "h:8080", "http://[::443]/": "[::443]", "a": ""}),
    (identity.normal, {  # as a browser sends it
        "HTTP://H:80/a/../b#x": "http://h/b", "http://h/a/..?q": "http://h/?q", "http://h/%2e%2E/a": "http://h/a", "http://h/?a'b": "http://h/?a%27b",
        "http://b\u00fccher/": "http://xn--bcher-kva/", "http://h/\u00e9": "http://h/%C3%A9", "http://h/%ff?%FF": "http://h/%ff?%FF",
        "http://[": None, "a": None,
    }),
    (identity.plain, {  # only unreserved characters are unescaped
        "http://h/%7Ea%2f%41": "http://h/~a%2FA", "http://h/%zz%C3%a9": "http://h/%zz%C3%A9", "http://h.:81/a.": "http://h:81/a.", "a": "a",
    }),
    (identity.key, {  # site, path and query
        "https://h.example:443/a%7Eb/%C3%A9?q#f": ("h.example", "/a~b/é", "q"), "http://u@H.example.:8080": ("h.example:8080", "/", None),
        "mailto:x": ("", "mailto:x", None),
    }),
    (identity.percent_decoded, {"a%FF%c3%a9%zz": "a\udcffé%zz"}),  # bytes that are no characters survive the decoder
    (identity.origin, {"http://u@h:80/a": "http://u@h:80", "HTTP://H?a/b": "HTTP://H", "http://h": "http://h", "mailto:a": "", "/a": ""}),
]


@pytest.mark.parametrize(("form", "urls"), FORMS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_url_has_its_site_its_normal_and_plain_form_its_key_and_its_origin(form: Callable[[str], object], urls: dict[str, object]) -> None:
    for url, expected in urls.items():
        assert form(url) == expected, url


@given(st.lists(st.sampled_from("http:// h.example H xn--a 9 . .. / ? %2e %41 % a - _ ' | \\ :80 : @ \u00e9 [ ] ^".split(" ")), max_size=9).map("".join))
def test_the_short_way_to_a_normal_url_leads_where_the_parser_does(text: str) -> None:
    for url in (text, f"http://h{text}", f"https://h.example/{text}"):
        assert identity.normal(url) == whatwg.parse(url)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_every_way_to_escape_a_name_has_the_same_key(name: str) -> None:
    url = whatwg.parse(f"http://h/{quote(name, safe='')}") or ""
    everything = "http://h/" + "".join(f"%{byte:02x}" for byte in name.encode())
    if name not in {".", ".."}:  # dot segments, escaped or not
        assert identity.key(url) == identity.key(everything)
