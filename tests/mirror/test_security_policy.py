"""Content Security Policies that forbid the local copy."""

from __future__ import annotations

import pytest

from absolve.mirror.security_policy import forbidding, may_have_one


@pytest.mark.parametrize(
    ("policy", "directive"),
    [
        ("", None),
        (";;", None),
        ("img-src *", None),
        ("img-src file:", None),
        ("IMG-SRC https://h", "img-src"),
        ("script-src 'nonce-a'", None),
        ("script-src 'NONE'", None),
        ("img-src data: blob:", None),
        ("img-src data: https:", "img-src"),
        ("style-src 'SELF' https:", None),
        ("frame-ancestors https://h; report-uri https://h/r", None),
        ("default-src 'self', font-src https://f", "font-src"),
        ("upgrade-insecure-requests; block-all-mixed-content", None),
    ],
)
def test_a_policy_forbids_the_copy_by_the_first_directive_that_only_names_the_web(
    policy: str, directive: str | None
) -> None:
    assert forbidding(policy) == directive


@pytest.mark.parametrize(
    ("data", "may"), [(b"<meta http-equiv=Content-Security-Policy>", True), (b"<meta charset=utf-8>", False)]
)
def test_most_pages_are_known_to_have_none(data: bytes, *, may: bool) -> None:
    assert may_have_one(data) is may
