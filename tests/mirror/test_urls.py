"""URLs as browsers send them, and equivalent ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.errors import UsageError
from absolve.mirror.lookup import Equivalences, twin, wanted
from absolve.urls.identity import plain

PARTS = st.text("aA%7e2Ff~/&=?", max_size=20)


@pytest.mark.parametrize(("url", "line"), [
    ("http://h.example/a b/\u00e9\u202e?\u00fc='#f", "http://h.example/a%20b/%C3%A9%E2%80%AE?%C3%BC=%27"),
    ("https://u:p%40@B\u00fccher.example:8080\\x\r\ny\x1bz", "https://xn--bcher-kva.example:8080/xy%1Bz"),
    ("http://user@8.8.8.8/@", "http://8.8.8.8/@"),
    ("http://[2606:4700::1111]:81/", "http://[2606:4700::1111]:81/"),
    ("http://local.example/internal", "http://local.example/internal"),
    ("http://localhost.example.com/", "http://localhost.example.com/"),
])
def test_a_crawler_gets_one_line_of_printable_ascii_without_user_information(url: str, line: str) -> None:
    assert wanted(url) == line == wanted(line)


@pytest.mark.parametrize(
    "host",
    "localhost LOCALHOST. a.localhost nas.local printer.lan x.internal router.home.arpa \uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54"
    " jenkins router. a.invalid kubernetes.default.svc"
    " 127.0.0.1 127.1 127.9.9.9. 2130706433 0x7f.1 0177.0.0.1 0x7f000001 %31%32%37.0.0.1 0 0.0.0.0 10.1.2.3 172.16.0.1"
    " 192.168.1.1:8080 0xc0a80101 169.254.169.254 100.64.0.1 100.127.255.254 198.18.0.1 224.0.0.1 255.255.255.255 u:p@10.0.0.1"
    " [::1] [::] [0:0::1]:80 [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [::ffff:127.0.0.1] [::ffff:a00:1]"
    " [::127.0.0.1] [64:ff9b::10.0.0.1] [2002:7f00:1::] [2001:db8::1]".split(),
)
def test_a_crawler_is_sent_to_no_private_network(host: str) -> None:
    assert wanted(f"http://{host}/x") is None


def test_a_crawler_gets_only_urls_of_the_web() -> None:
    for url in ("ftp://h/", "file:///etc/passwd", "data:,x", "javascript:x", "http://a b/", "http:///", "x", ""):
        assert wanted(url) is None


TWINS = {"http://h": "https://h", "https://h": "http://h", "ftp://h": None}


def test_http_and_https_are_twins() -> None:
    assert {url: twin(url) for url in TWINS} == TWINS


SAME = {
    None: Equivalences(), "": Equivalences(), "none": Equivalences(default=False),
    "case, www": Equivalences(more=("www", "case")),
}


def test_same_takes_words_in_any_order_and_refuses_an_unknown_one() -> None:
    assert {words: Equivalences.from_words(words) for words in SAME} == SAME
    for words in ("host", "none,www", "www,"):
        with pytest.raises(UsageError, match="--same takes www, slash, query-order, case or none"):
            Equivalences.from_words(words)


@pytest.mark.parametrize(("words", "one", "other", "are_same"), [
    ("www", "http://www.h/a", "https://h/a", True),
    ("www", "http://www.h/a", "http://h/A", False),
    ("slash", "http://h/a/", "http://h/a", True),
    ("slash", "http://h/a/?q", "http://h/a?q", True),
    ("query-order", "http://h/?b=1&a=2", "http://h/?a=2&b=1", True),
    ("query-order", "http://h/a/", "http://h/a", False),
    ("case", "http://h/A?B", "http://h/a?b", True),
    ("www,slash,query-order,case", "http://www.h/A/?b&a", "http://h/a?A&B", True),
    ("www,slash,query-order,case", "http://h/a", "http://h/a?", False),
])
def test_urls_are_the_same_by_the_words_that_say_so(words: str, one: str, other: str, *, are_same: bool) -> None:
    same = Equivalences.from_words(words)
    assert (same.form(one) == same.form(other)) is are_same


def test_the_exact_escapes_count_before_the_scheme_and_what_same_adds_comes_last() -> None:
    assert list(Equivalences.from_words("www").others("http://www.h/%7E")) == [
        ("unescaped", "http://www.h/~"),
        ("scheme", "https://www.h/%7E"),
        ("scheme", "https://www.h/~"),
        ("www", "=http://h/~"),
    ]


@pytest.mark.parametrize(("one", "other", "are_same"), [
    ("http://h/a:b", "http://h/a%3ab", True),
    ("http://h/a:b", "https://h/a%3Ab", True),
    ("package:///p/a%5B1%5D", "package:///p/a[1]", True),
    ("http://h/%FF:", "http://h/%ff%3a", True),
    ("http://h/\udc80:", "http://h/\udc80%3a", True),
    ("http://h/a%3Fb", "http://h/a?b", False),
    ("http://h/a%2Fb", "http://h/a/b", False),
    ("http://h/%253A", "http://h/%3A", False),
    ("http://h/:?a:b", "http://h/:?a%3Ab", False),
])
def test_every_spelling_of_the_escapes_in_its_path_names_a_file_and_no_other_document(
    one: str, other: str, *, are_same: bool
) -> None:
    same = Equivalences()
    asked = {other, *(form for _, form in same.others(other))}
    assert bool({one, *same.forms(one, is_file=True)} & asked) is are_same
    assert not {one, *same.forms(one)} & asked


def test_nothing_stands_for_a_url_with_same_none() -> None:
    same = Equivalences.from_words("none")
    assert [*same.others("http://h/%3A"), *same.forms("http://h/%3A", is_file=True)] == []


@given(PARTS, st.sampled_from([None, "case", "www,slash,query-order"]))
def test_a_held_url_is_found_by_any_spelling_of_its_escapes(part: str, words: str | None) -> None:
    same = Equivalences.from_words(words)
    held, asked = f"http://h/{part}", plain(f"http://h/{part}")
    assert {held, *same.forms(held)} & {asked, *(form for _, form in same.others(asked))}
