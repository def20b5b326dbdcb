"""`absolve resolve`: resolve references without a document."""


import pytest
from command_runner import Runner


def test_an_absolute_reference_needs_no_base(absolve: Runner) -> None:
    assert absolve("resolve", "", "http://h/a") == (0, b"http://h/a\n", "")


def test_resolve_prints_a_line_for_each_reference(absolve: Runner) -> None:
    assert absolve("resolve", "http://a/b/c/d;p?q", "../g", "", "//g").lines == [
        "http://a/b/g",
        "http://a/b/c/d;p?q",
        "http://g",
    ]


def test_a_reference_that_cannot_be_resolved_gives_an_empty_line_and_status_1(absolve: Runner) -> None:
    done = absolve("resolve", "mailto:a@b", "x", "http://h/")
    assert (done.status, done.lines) == (1, ["", "http://h/"])
    assert done.err == "error: resolve: unresolved: 'x' cannot be resolved against 'mailto:a@b'\n"


@pytest.mark.parametrize(("profile", "url"), [("rfc1808", "http://a/../g"), ("rfc3986", "http://a/g"), ("whatwg", "http://a/g")])
def test_resolve_uses_the_given_profile(absolve: Runner, profile: str, url: str) -> None:
    assert absolve("resolve", "--profile", profile, "http://a/b/c/d", "../../../g").lines == [url]


def test_two_hyphens_end_the_options_of_resolve(absolve: Runner) -> None:
    assert absolve("resolve", "http://a/b", "--", "--g").lines == ["http://a/--g"]
