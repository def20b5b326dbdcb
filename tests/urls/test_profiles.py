"""The table of profiles: chosen by name, loaded on first use."""

import subprocess
import sys

import pytest

from absolve import Profile
from absolve.core.errors import UsageError
from absolve.urls import PROFILES, by_name, resolve


def test_each_profile_resolves_by_its_own_rules_and_an_unknown_one_is_an_error_that_names_the_choices() -> None:
    assert resolve("http://a/b", "../G g") == resolve("http://a/b", "../G g", "rfc1808") == "http://a/../G g"
    assert (resolve("http://a/b", "../G g", "rfc3986"), resolve("http://a/b", "../G g", profile="whatwg")) == ("http://a/G g", "http://a/G%20g")
    with pytest.raises(UsageError, match=f"'rfc2396': choose from {', '.join(PROFILES)}"):
        by_name("rfc2396")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("scheme", ["app", "ipfs", "chrome-extension", "svn+ssh", "gopher", "nntp", "file"])
def test_a_scheme_with_two_slashes_is_hierarchical_in_every_profile(profile: Profile, scheme: str) -> None:
    assert resolve(f"{scheme}://h/a/b/c?q", "../y?z#f", profile) == f"{scheme}://h/a/y?z#f"


OPAQUE = ["mailto:u@h", "data:,x", "urn:a:b", "telnet://h/"]
RELATIVE = ["g", "/g", "//g", "?y", "#s", ";x", "."]


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986"])
@pytest.mark.parametrize("base", [*OPAQUE, "news:a.b", "TELNET://h/"])
def test_an_opaque_or_non_generic_base_resolves_only_the_empty_and_the_absolute(profile: Profile, base: str) -> None:
    assert [resolve(base, reference, profile) for reference in RELATIVE] == [None] * 7
    assert (resolve(base, "", profile), resolve(base, "x:y", profile)) == (base, "x:y")


@pytest.mark.parametrize(("profile", "target"), [("rfc1808", "http://h/../g"), ("rfc3986", "http://h/g"), ("whatwg", "http://h/g")])
@pytest.mark.parametrize("base", ["", "g", "/g", "//h/g", "?y", "#s"])
def test_without_an_absolute_base_only_the_absolute_is_resolved(profile: Profile, base: str, target: str) -> None:
    assert [resolve(base, reference, profile) for reference in ("", *RELATIVE)] == [None] * 8
    assert resolve(base, "http://h/../g", profile) == target


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_climb_takes_linear_time(profile: Profile) -> None:
    assert resolve("http://h/" + "a/" * 100_000, "../" * 100_000 + "./" * 100_000 + "x", profile) == "http://h/x"


def test_ada_url_is_loaded_only_by_the_whatwg_profile() -> None:
    program = (
        "import sys; from absolve.urls import base, predicates, resolve; resolve('http://h/a', 'b');"
        "predicates.is_malformed('http://h.example:80/'); base.Compared('http://h/a/').divergent('../b?c#d');"
        "assert not {'ada_url', 'webencodings'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
