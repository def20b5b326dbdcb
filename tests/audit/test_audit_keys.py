"""Keys of URLs, servers, and references in the form of the old ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.audit import judge, servers
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
    for words in ("iis", "plain,case=upper", "plain,bare-folder=maybe", "plain,index=", "plain,no=x"):
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
