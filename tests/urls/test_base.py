"""RFC 1808 section 3: the innermost claim that can be a base applies, and every claim's outcome is recorded."""

import pytest

from absolve.api import rewrite
from absolve.core.model import DEFAULT, VERDICTS, BaseClaim, BaseURL, Layer
from absolve.urls.base import claimed_url, establish, inherited, same_document

OWN = BaseURL("http://doc.example/dir/page.html", Layer.RETRIEVAL, "--url")


def embedded(reference: str) -> BaseClaim:
    return BaseClaim(Layer.EMBEDDED, reference, "base element", 7)


def verdicts(base: BaseURL) -> list[str]:
    assert {claim.verdict for claim in base.chain} <= VERDICTS.keys()
    return [claim.verdict for claim in base.chain]


def test_an_unusable_claim_is_recorded_and_the_next_outer_layer_applies() -> None:
    assert establish(OWN, [], "rfc1808") == OWN
    assert establish(DEFAULT, [], "rfc1808") == DEFAULT == BaseURL("", Layer.DEFAULT)
    for reference in ("javascript:1", "JavaScript:1", " data:,x", "data:text/html,x", "http://[x", "http://", "//[x/"):
        base = establish(OWN, [embedded(reference)], "rfc1808")
        assert (base[:3], verdicts(base), base.chain[0].url) == (OWN[:3], ["unsuitable"], None), reference
    for reference in ("", "  ", "sub/", "/x/", "//h.example/", "?q", "."):
        assert establish(DEFAULT, [embedded(reference)], "rfc1808")[:2] == ("", Layer.DEFAULT)


@pytest.mark.parametrize(("reference", "url"), [
    ("", OWN.url), (" \n", OWN.url), ("./", "http://doc.example/dir/"), ("sub/", "http://doc.example/dir/sub/"),
    ("www.example.com/", "http://doc.example/dir/www.example.com/"), ("/x/", "http://doc.example/x/"),
    ("//h.example/x/", "http://h.example/x/"), ("\thttp://h.example/x/ ", "http://h.example/x/"), ("http://h.example", "http://h.example"),
    ("mailto:a@b", "mailto:a@b"),  # a base, but an opaque one
    ("about:blank", "about:blank"),
    ("app://h/x/", "app://h/x/"),
])
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986"])
def test_a_claim_is_resolved_against_the_next_outer_layer(reference: str, url: str, profile: str) -> None:
    assert claimed_url(embedded(reference), OWN, profile) == url
    base = establish(OWN, [embedded(reference)], profile)
    assert (base.url, base.layer) == (url, Layer.EMBEDDED)


def test_the_first_usable_claim_of_a_layer_applies_with_its_source_and_its_line_if_known() -> None:
    assert establish(OWN, [embedded("/x/")], "rfc1808").source == "base element"
    assert establish(OWN, [embedded("/x/")], "rfc1808", lambda position: position + 1).source == "base element, line 8"
    base = establish(OWN, [embedded("javascript:1"), embedded("/1/"), embedded("/2/")], "rfc1808")
    assert base.url == "http://doc.example/1/"
    assert verdicts(base) == ["unsuitable", "won", "ignored"]
    assert [claim.url for claim in base.chain] == [None, "http://doc.example/1/", "http://doc.example/2/"]


@pytest.mark.parametrize(("reference", "verdict"), [("/x/", "resolved against"), ("http://h.example/", "overruled")])
def test_outer_claims_are_kept_in_the_chain_of_claims(reference: str, verdict: str) -> None:
    outer = establish(DEFAULT, [BaseClaim(Layer.RETRIEVAL, OWN.url, "--url")], "rfc1808")
    base = establish(outer, [embedded(reference)], "rfc1808")
    assert verdicts(base) == ["won", verdict]
    assert [claim.base.layer for claim in base.chain] == [Layer.EMBEDDED, Layer.RETRIEVAL]


def test_an_inner_document_inherits_the_base_of_its_encapsulating_entity() -> None:
    assert inherited(DEFAULT, "srcdoc") == DEFAULT
    outer = establish(DEFAULT, [BaseClaim(Layer.RETRIEVAL, OWN.url, "--url")], "rfc1808")
    base = inherited(outer, "srcdoc")
    assert base[:3] == (OWN.url, Layer.ENCAPSULATING, "srcdoc (--url)")
    assert verdicts(base) == ["won", "resolved against"]


@pytest.mark.parametrize(("one", "other", "same"), [
    ("http://h/p", "http://h/p", True), ("http://h/p#a", "http://h/p#b", True), ("http://h/p#", "http://h/p", True),
    ("http://h/p", "http://h/p#b", True), ("http://h/p#b", "http://h/pq", False), ("http://h/p#/q", "http://h/q#p", False),
    ("http://h/p?", "http://h/p", False), ("http://h/p", "http://h/q", False), ("", "", True),
])
def test_urls_that_differ_only_in_fragments_are_the_same_document(one: str, other: str, same: bool) -> None:
    assert same_document(one, other) is same


def test_an_undecodable_byte_in_the_url_of_the_user_is_percent_escaped() -> None:
    page = b"<meta charset=gbk><a href=x>"
    assert rewrite(page, url=b"http://h/\xe9a/".decode("utf-8", "surrogateescape")) == page.replace(b"=x", b"=http://h/%E9a/x")
    assert rewrite(page, url="http://h/\ud800/").endswith(b"/x>")
