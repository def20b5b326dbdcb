"""PrefixResolver gives the same targets as the full algorithm, for references that every profile appends."""

import pytest
from hypothesis import example, given
from resolver_strategies import bases, references, references_of_parts

from absolve import Profile
from absolve.urls import PROFILES, predicates, rfc1808, rfc3986, whatwg
from absolve.urls import rfc1808 as parsing

BASE = "http://h/a/b?q#f"
PACKAGES = ["package:///", "package:///p.html", "package:///OEBPS/text/p.html", "package:///a%20b//c.d/e:f"]


def by_steps(profile: str, base: str, reference: str) -> str | None:
    if profile == "rfc1808":
        return rfc1808.steps(base, parsing.split(base), reference)
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


@pytest.mark.parametrize("count", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("base", [BASE, *PACKAGES])
@pytest.mark.parametrize("profile", PROFILES)
def test_references_of_parts_lead_where_the_full_algorithm_leads(profile: Profile, base: str, count: int) -> None:
    resolve = PROFILES[profile].resolver(base)
    assert [found for found in references_of_parts(count) if resolve(found) != by_steps(profile, base, found)] == []
