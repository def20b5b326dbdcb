"""Keys of URLs, servers, references in the form of the old ones, and suggestions for URLs that are not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.audit import judge, servers
from absolve.audit.near_misses import Asked, NearMisses, Suggestion
from absolve.core.errors import UsageError
from absolve.urls import whatwg
from absolve.urls.relative_path import in_form, relative


@pytest.mark.parametrize(("path", "charset", "wanted"), [
    ("/caf%E9", "utf-8", ["/café"]), ("/caf%25C3%25A9", "utf-8", ["/caf%C3%A9", "/café"][1:]), ("/plain%20x", "windows-1251", []),
    ("/%ED%EE", "windows-1251", ["/но", "/íî"]), ("/%83%5C%83A%2F%93%FA", "shift_jis", ["/ソア%2F日"]), ("/%D0%BD", "koi8-r", ["/%CE"]),
    ("/%E9", "iso-2022-jp", ["/é"]),
])
def test_odd_spellings_of_a_path(path: str, charset: str, wanted: list[str]) -> None:
    assert list(judge._respelled(path, charset))[: len(wanted) or None] == wanted


def test_the_root_of_a_site_is_the_folder_of_its_url() -> None:
    assert [judge.root(url) for url in ("HTTPS://H.example", "http://h/a/b.html?q/x#f", "http://h/a/")] == ["https://h.example/", "http://h/a/", "http://h/a/"]
    for url in ("mailto:x", "http://[", "nothing"):
        with pytest.raises(UsageError, match="not an http or https URL"):
            judge.root(url)


def test_an_unknown_server_or_word_is_an_error() -> None:
    for words in ("lighttpd", "plain,case=upper", "plain,bare-folder=maybe", "plain,index=", "plain,no=x"):
        with pytest.raises(UsageError):
            servers.named(words)
    found = servers.named("plain,index=a,index=b, extension=htm,extension=.php,query=exact")
    assert (found.indexes, found.extensions, found.queries) == (("a", "b"), (".htm", ".php"), "exact")


@pytest.mark.parametrize(("reference", "base", "target", "wanted"), [
    ("a.html", "http://h/d/x.html", "http://h/d/b.html#f", "b.html#f"),
    ("../a.html", "http://h/d/e/x.html", "http://h/b.html?q", "../../b.html?q"),
    ("./a", "http://h/d/x", "http://h/d/b", "./b"),
    ("/a", "http://h/d/x", "http://h/b/", "/b/"),
    ("//g/a", "http://h/d/x", "http://h/b", "//h/b"),
    ("//g/a", "https://h/d/x", "http://h/b", "http://h/b"),  # would be https
    ("HTTP://g/a", "http://h/", "https://h/b", "https://h/b"),
    ("a", "http://h/d/x", "http://g/b", "http://g/b"),
    ("a", "http://h/d/x", "http://h/d/", "./"),
    ("a", "http://h/d/x", "http://h/d/b:c", "./b:c"),
    ("a", "http://h/d/x", "http://h//b", "/..//b"),
    ("a", "http://h/d/x", "http://h/d/e/f/g", "e/f/g"),
    ("a", "", "http://h/b", "http://h/b"),
])
def test_a_new_reference_keeps_the_form_of_the_old_one(reference: str, base: str, target: str, wanted: str) -> None:
    found = in_form(reference, base, target)
    assert whatwg.parse(found, base or None) == target
    if wanted != "/..//b":
        assert found == wanted


PATH = st.lists(st.sampled_from(["a", "b", "c", "x:y", "%20"]), max_size=4).map("/".join)


@given(PATH, PATH, st.booleans())
def test_a_relative_reference_leads_to_its_path(base: str, path: str, dotted: bool) -> None:
    found = relative(f"/{base}", f"/{path}", is_dotted=dotted)
    assert whatwg.parse(found, f"http://h/{base}") == f"http://h/{path}"


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
