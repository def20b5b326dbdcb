"""Diagnostics for links that lead elsewhere in a browser, or climb above the root, in a rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from absolve.core.errors import Diagnostic
from absolve.document.settings import Settings
from absolve.rewriting.policy import absolute
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions
from absolve.run.plan import Job, RewriteOptions
from absolve.run.rewrite_task import rewritten

if TYPE_CHECKING:
    from pathlib import Path

    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy

URL = "http://h/d/p.html"


def asked(resolved: Resolved) -> str | None:
    """Decide as `absolute`, by the way of any policy."""
    return absolute(resolved)


def texts(path: Path, page: bytes, profile: str, policy: Policy = absolute) -> list[str]:
    path.write_bytes(page)
    how = RewriteOptions(ReadOptions(Settings(profile=profile)), policy)
    found = [one for one in rewritten(how, Job(Input(str(path), path.name, URL))) if isinstance(one, Diagnostic)]
    return [f"{one.code}: {one.text}" for one in found if one.code in {"divergent", "above-root"}]


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("page", [
    b"",
    b"<a href=x><a href=../y><a href='http://g/../z'>",
    b"<p>C:\\x\\y</p><script>a = '\\n'</script><a href=x>",
    b"<p>http:x is no link</p>",
    b"<a href=mailto:a><a href=javascript:'\\x'>",
])
def test_a_page_without_such_links_has_no_diagnostic(tmp_path: Path, page: bytes, profile: str) -> None:
    assert texts(tmp_path / "p.html", page, profile) == []


@pytest.mark.parametrize(("page", "expected"), [
    (b"<a href=http:x>", ["divergent: 1 link leads elsewhere in a browser"]),
    (b"<a href='\\x'><a href=http:y>", ["divergent: 2 links lead elsewhere in a browser"]),
    (b"<iframe srcdoc='&lt;a href=http:x>'>", ["divergent: 1 link leads elsewhere in a browser"]),
    (b"<a href=HTTP:x&amp;y>", ["divergent: 1 link leads elsewhere in a browser"]),
    (b"<a href=../../x>", ["above-root: 1 link climbs above the root, and keeps /../"]),
    (b"<a href=../../x><a href=../../y>", ["above-root: 2 links climb above the root, and keep /../"]),
    (
        b"<a href=../../x><a href=http:y><a href=z>",
        ["divergent: 1 link leads elsewhere in a browser", "above-root: 1 link climbs above the root, and keeps /../"],
    ),
])
@pytest.mark.parametrize("policy", [absolute, asked])
def test_links_that_lead_elsewhere_are_counted(tmp_path: Path, page: bytes, expected: list[str], policy: Policy) -> None:
    assert texts(tmp_path / "p.html", page, "rfc1808", policy) == expected


def test_other_profiles_keep_no_dots_above_the_root(tmp_path: Path) -> None:
    page = b"<a href=../../x><a href=http:y>"
    assert texts(tmp_path / "p.html", page, "rfc3986") == ["divergent: 1 link leads elsewhere in a browser"]
    assert texts(tmp_path / "p.html", page, "whatwg") == []


def test_a_link_that_the_policy_keeps_is_not_counted_as_climbing(tmp_path: Path) -> None:
    assert texts(tmp_path / "p.html", b"<a href=../../x>", "rfc1808", lambda _: None) == []
