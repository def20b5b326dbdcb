"""Rewriting with policies, and that none turns text into markup or code; tests/cases/rewrite.toml has the other cases."""

from typing import Any

import pytest

from absolve import Document
from absolve.api import links, rewrite
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.encodings.charsets import by_label
from absolve.rewriting.remap import Remapping

PLACES = (
    "<a href=\"x\"><a href='x'><a href=x><a href><a href=''><a href= >"
    "<img srcset='x 1x, x 2x'><img srcset=x,><a ping='x x'>"
    "<meta http-equiv=refresh content=\"0;url='x'\"><meta http-equiv=refresh content='0;url=\"x\"'>"
    "<meta http-equiv=refresh content='0;url=x'><meta http-equiv=refresh content=0;url=x>"
    "<p style=\"a:url(x),url('x')\"><p style='a:url(x),url(\"x\")'><p style=a:url(x)><style>a{b:url(x) url('x')}</style>"
    "<iframe srcdoc=\"<a href=x><iframe srcdoc='<p style=a:url(x)><a href=&quot;x&quot;>'>\">"
    "<svg><style>a{b:url(x)}</style><rect fill='url(x)'/></svg>"
    '<script type=importmap>{"imports":{"a":"./x"}}</script>'
)
URLS = ["y", "http://h/y", 'a"b', "a'b", "a&b", "a&copy;", "a&copy=", "<a>", "</style>", "a b", "a\nb", "a\rb", "é", "日", "a`b", "a=b", "a\\b", "a)b", "(a", ",a,", "a;b", " y ", "\t", "\ud800", "\udc80"]


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "shift_jis", "iso-2022-jp", "utf-16le"])
def test_a_url_of_a_policy_is_read_back_from_every_link_site(charset: str) -> None:
    page = by_label(charset).encode(PLACES, "strict")
    options: dict[str, Any] = {"charset": charset, "media_type": "text/html"}
    before = [row.element for row in links(page, **options)]
    for new in URLS:
        options["policy"] = lambda _, new=new: new
        done = rewrite(page, **options)
        assert rewrite(done, **options) == done, new
        del options["policy"]
        after = list(links(done, **options))
        assert not new.strip() or [row.element for row in after] == before, new
        if new.isascii() and new.strip():
            for row in after:
                escaped = row.attribute in {"srcset", "ping", "content"}
                assert row.reference == new.strip() or (escaped and "%" in row.reference), new


def test_the_bytes_of_a_reference_that_a_policy_leaves_as_it_is_and_of_its_unchanged_end_stay() -> None:
    for same in (PLACES, PLACES.encode(), PLACES.encode("utf-16")):
        assert rewrite(same, policy=lambda resolved: resolved.reference) is same
    page = "<a href='x?a&amp;b&amp;c'>"
    assert rewrite(page, policy=lambda resolved: resolved.reference.replace("?a", "?z")) == "<a href='x?z&amp;b&amp;c'>"


# --- no markup and no code arises -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["javascript:", "data:text/html,", "VBScript:"])
def test_a_remapping_creates_an_executable_scheme_only_if_the_rule_spells_it(scheme: str) -> None:
    url = f"http://h/{scheme}alert(1)"
    assert Remapping([("http://h/(.*)", r"\1", "regex")])(url) is None
    assert Remapping([("http://h/(.*?):(.*)", rf"{scheme}\2", "regex")])(url) == f"{scheme}{'text/html,' if 'data' in scheme else ''}alert(1)"


AMBIGUOUS = [
    "<noscript><p title='</noscript><script>var a=\"'><a href=x>\"</script>",
    "<noscript><!-- </noscript><style>a{b:url(--><a href=x>) }</style>", "<noscript><style></noscript><p title='</style><a href=x>'>",
    "<noscript><svg></noscript><style><!--<a href=x></style>", "<noscript><template></noscript><a href=x>",
    "<noscript>x</noscript><frameset><frame src=x></frameset>", "<noscript><plaintext></noscript><a href=x>",
]
THE_SAME = [
    "<noscript><img src=x><p><div></noscript><a href=y>",
    "<head><noscript><link rel=stylesheet href=a.css><style>a{}</style></noscript></head><body>",
    "<noscript><iframe src=x></iframe></NoScript ><table><tr><td><noscript><table><tr></table></noscript></table>",
    "<noscript><a href=x>", "<template><noscript><a href=x></noscript></template>",
    "<svg><noscript><a href='</noscript>'></noscript></svg>",
]


def test_only_a_noscript_element_that_scripting_ends_elsewhere_is_ambiguous() -> None:
    for page in AMBIGUOUS + THE_SAME:
        found = [one.code for one in walk(Document(page, media_type="text/html", url="http://h/"), Settings()).diagnostics]
        assert ("ambiguous" in found) if page in AMBIGUOUS else not found, page


def test_a_retrieval_url_with_a_lone_surrogate_has_a_replacement_character() -> None:
    (row,) = links(Document("<a href=x>", media_type="text/html", url="http://h/\ud800/"))
    assert row.target == "http://h/\ufffd/x"
