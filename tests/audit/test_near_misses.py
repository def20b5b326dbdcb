"""Suggestions for URLs that are not there."""

import pytest

from absolve.audit.near_misses import Asked, NearMisses, Suggestion

SITE = "https://new.example/"
KNOWN = [
    ("", "Home"), ("guides/installation.html", "Installation"), ("guides/upgrade.html", "Upgrade"), ("guides/git-config.html", None),
    ("guides/git-clone.html", None), ("docs/setup/index.html", "Set-up"), ("docs/chapter1.html", "Chapter"), ("docs/chapter2.html", "Chapter"),
    ("lang_datefunc.html", None), ("arch.html", None), ("caf%C3%A9/Menu.html", None),
]


@pytest.fixture(scope="module")
def near() -> NearMisses:
    return NearMisses((SITE + path, title) for path, title in KNOWN)


SUGGESTED: dict[str, str | None] = {
    "qqq.html": None, "search": None, "lang_update.html": None, "guides/git-confine.html": None,
    "docs/chapter3.html": None, "": None, "x/index.html": None, "g.html": None,
    "guides/instalation.html": "guides/installation.html", "guides/INSTALLATION.htm": "guides/installation.html",
    "guide/installation.html": "guides/installation.html", "installation": "guides/installation.html",
    "guides/git-confg.html": "guides/git-config.html", "docs/set-up/": "docs/setup/index.html",
    "setup.html": "docs/setup/index.html", "elsewhere/instalation": "guides/installation.html",
    "cafe/menu.html": "caf%C3%A9/Menu.html", "guides/installation.html?x#y": "guides/installation.html",
}


def test_a_likely_url_is_suggested(near: NearMisses) -> None:
    for url, expected in SUGGESTED.items():
        found = near(Asked(SITE + url))
        assert (found.url if found is not None else None) == (SITE + expected if expected is not None else None), url
        assert found is None or 0.5 < found.score <= 1


def test_the_only_page_with_the_same_title_is_suggested(near: NearMisses) -> None:
    assert near(Asked(SITE + "x9", " upgrade ")) == Suggestion(SITE + "guides/upgrade.html", 0.9)
    assert near(Asked(SITE + "x9", "Chapter")) is None
    assert near(Asked(SITE + "guides/upgrade.html", "Upgrade")) is None


def test_a_name_that_many_folders_have_is_no_hint() -> None:
    made = NearMisses((f"{SITE}f{number}/overview.html", "Overview") for number in range(100))
    assert made(Asked(SITE + "overview.html")) is None
    assert made(Asked(SITE + "f5/overvew.html")) == Suggestion(SITE + "f5/overview.html", 0.9014)
