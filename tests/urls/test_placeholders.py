"""Placeholders of template engines in references; each spelling is from the documentation of its engine."""

import pytest

import absolve
from absolve.urls import PROFILES, resolver
from absolve.urls.placeholders import first, is_placeholder, masked, resolved

BASE = "http://h.example/d/p.html"
PLACEHOLDERS = [
    *("{{ x }}", "{{x}}/y", "{{{x}}}", "{% url 'x' %}", "{{% x %}}", "{{< ref x >}}", "{{- x -}}", "{$x}", "{url}", "{#t('x')}", "{+x}", "%7B%7Bx%7D%7D/y", "%7b%25 x"),
    *("<?php echo $x ?>", "<?= $x ?>/y", "<%= x %>", "<%@ x %>", "<#if x>", "<@spring.url '/'/>", "<c:url value='/'/>", "<TMPL_VAR x>"),
    *("${x}/y", "#{x}/y", "#{f(", "@{/x}", "*{x}", "~{x}", "!{x}", "^{x}", "%{#url}", "$x/y", "$!x", "$(PROVIDER{x})"),
    *("*|UNSUB|*", "%%unsubscribe%%", "%%=RedirectTo(@x)=%%", "%%[ if x ]%%", "%PUBLIC_URL%/x.png", "%sveltekit.assets%/x", "%BASE_URL%x"),
    *("<unsubscribe>", "<WebVersion>", "@@LINK@@", "@@BASE_URL@@/x.png", "%[unsubscribe]%", "%[Unsubscribe URL]%"),
    *("[[UNSUB_LINK]]", "[[~5]]", "[[+x]]/y", "[(${x})]", "[% x %]", "[%- x -%]", "[unsubscribe]", "[site:url]", "###UNSUBSCRIBE###"),
    *("@(x)/y", "@Url.Content(", "@Model.Link", "@item.Url", "@url('/')", "@[x.y]", "@ViewBag.url"),
    *('\\"x\\"', "\\'x", '\\\\\\"x', "'.$x.'", "' + url + '", '" + url + "'),  # a tag in a string of PHP, JavaScript, SQL or JSON
    *("/x/{{ f(", "x?y=<?=", "http://h/x?<% f(", "a/{% x"),  # a quote or a blank has cut these
]
REFERENCES = [
    *("x", "/x", "x?y#z", "%20x", "%E3%81%82%E3%81%84", "%7Bx%7D", "@babel/core", "@user", "~user/", "*.html", "!important", "$", "#", "#x", "##", "#{x}", "#{x}y"),
    *("__URL__", "~/x", "-x-", "@@x", "@@", "%[x]", "<x", "<x>y", "<http://h/>", "x<y>"),
    *("{0A1B2C3D-0000-1111-2222-333344445555}.html", "{%22a%22:1}", "?q={%22a%22:[%22b%22]}", "?q=[[1,2],[3]]", "[ENG] x.pdf", "[...x].js"),
    *("100%25off%21", "%%", "###", "a@b.example", "x/${a}", "#{{x}}", "a<b", "\\x", "'x'", '"x"', "javascript:f({{a:1}", "data:,<?xml", "mailto:{{ x"),
]


@pytest.mark.parametrize("reference", PLACEHOLDERS)
def test_a_reference_that_begins_with_a_placeholder_or_ends_in_one_has_no_url(reference: str) -> None:
    assert is_placeholder(reference)
    assert resolved(reference, resolver("whatwg", BASE)) is None


@pytest.mark.parametrize("reference", REFERENCES)
def test_other_references_with_the_same_characters_have_one(reference: str) -> None:
    assert not is_placeholder(reference)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("reference", "expected"), [
    ("/p/{{ a b }}.html?x=<?= $y ?>", "http://h.example/p/{{ a b }}.html?x=<?= $y ?>"),
    ("../<% x %>/../y", "http://h.example/<% x %>/../y"), ("?{% x %}", "http://h.example/d/p.html?{% x %}"),
    ("#{{ x }}", "http://h.example/d/p.html#{{ x }}"), ("//{{ x }}/y z", "http://{{ x }}/y z"),
    ("http{{ s }}://x/", "http{{ s }}://x/"), ("http://h:{{ port }}/", "http://h:{{ port }}/"), ("http://{{ x }}", "http://{{ x }}"),
])  # fmt: skip
def test_a_placeholder_inside_is_kept_with_all_behind_it(profile: str, reference: str, expected: str) -> None:
    assert resolved(reference, resolver(profile, BASE)) == expected


def test_blanks_and_commas_of_placeholders_are_masked() -> None:
    assert masked(b"{{ a, b }} 1x, c 2x") == b"xxxxxxxxxx 1x, c 2x"
    assert masked(b"c 2x, <?= a, b") == b"c 2x, <?= a, b"  # it has no end


def test_many_placeholders_without_an_end_take_linear_time() -> None:
    text = "a" + "{{ <? [% ${" * 200_000
    assert (is_placeholder(text), first(text), len(masked(text.encode()))) == (True, 1, len(text))


def test_a_placeholder_of_ruby_is_a_fragment_in_other_documents() -> None:
    page = '<a href="#{x}">'
    found = {name: next(iter(absolve.links(page, name=name, url=BASE))) for name in ("p.html", "p.html.erb")}
    assert {name: (row.target, row.problems) for name, row in found.items()} == {
        "p.html": (f"{BASE}#{{x}}", []),
        "p.html.erb": (None, ["placeholder"]),
    }
