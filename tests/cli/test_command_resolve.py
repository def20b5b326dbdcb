"""`absolve resolve`: the resolver alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_runner import Runner


def test_an_absolute_reference_needs_no_base(absolve: Runner) -> None:
    assert absolve("resolve", "", "http://h/a") == (0, b"http://h/a\n", "")


def test_every_reference_has_a_line(absolve: Runner) -> None:
    assert absolve("resolve", "http://a/b/c/d;p?q", "../g", "", "//g").lines == [
        "http://a/b/g",
        "http://a/b/c/d;p?q",
        "http://g",
    ]


def test_the_line_of_one_that_has_no_url_is_empty_and_the_status_says_so(absolve: Runner) -> None:
    done = absolve("resolve", "mailto:a@b", "x", "http://h/")
    assert (done.status, done.lines) == (1, ["", "http://h/"])
    assert done.err == "resolve: unresolved: 'x' cannot be resolved against 'mailto:a@b'\n"


@pytest.mark.parametrize(
    ("profile", "url"), [("rfc1808", "http://a/../g"), ("rfc3986", "http://a/g"), ("whatwg", "http://a/g")]
)
def test_the_profile_decides(absolve: Runner, profile: str, url: str) -> None:
    assert absolve("resolve", "--profile", profile, "http://a/b/c/d", "../../../g").lines == [url]


def test_two_hyphens_end_the_options(absolve: Runner) -> None:
    assert absolve("resolve", "http://a/b", "--", "--g").lines == ["http://a/--g"]
