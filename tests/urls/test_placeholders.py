"""Placeholders of template engines in references; each spelling is from the documentation of its engine."""

import pytest

from absolve.urls import PROFILES, resolver
from absolve.urls.placeholders import first, is_placeholder, masked, resolved

BASE = "http://h.example/d/p.html"
PLACEHOLDERS = [
    *("{{ x }}", "{{x}}/y", "{{{x}}}", "{% url 'x' %}", "{{% x %}}", "{{< ref x >}}", "{{- x -}}", "{$x}", "{url}", "{#t('x')}", "{+x}", "%7B%7Bx%7D%7D/y", "%7b%25 x"),
    *("<?php echo $x ?>", "<?= $x ?>/y", "<%= x %>", "<%@ x %>", "@site/x", "<!--#echo var='X' -->/y", "<#if x>", "<@spring.url '/'/>", "<c:url value='/'/>", "<TMPL_VAR x>"),
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


def test_a_reference_that_begins_with_a_placeholder_or_ends_in_one_has_no_url() -> None:
    assert [one for one in PLACEHOLDERS if not is_placeholder(one) or resolved(one, resolver("whatwg", BASE)) is not None] == []
    assert [one for one in REFERENCES if is_placeholder(one)] == []


INSIDE = [
    ("/p/{{ a b }}.html?x=<?= $y ?>", "http://h.example/p/{{ a b }}.html?x=<?= $y ?>"),
    ("../<% x %>/../y", "http://h.example/<% x %>/../y"), ("?{% x %}", "http://h.example/d/p.html?{% x %}"),
    ("#{{ x }}", "http://h.example/d/p.html#{{ x }}"), ("//{{ x }}/y z", "http://{{ x }}/y z"),
    ("http{{ s }}://x/", "http{{ s }}://x/"), ("http://h:{{ port }}/", "http://h:{{ port }}/"), ("http://{{ x }}", "http://{{ x }}"),
]  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_a_placeholder_inside_is_kept_with_all_behind_it(profile: str) -> None:
    assert [resolved(reference, resolver(profile, BASE)) for reference, _ in INSIDE] == [expected for _, expected in INSIDE]


def test_blanks_and_commas_of_placeholders_are_masked() -> None:
    assert masked(b"{{ a, b }} 1x, c 2x") == b"xxxxxxxxxx 1x, c 2x"
    assert masked(b"c 2x, <?= a, b") == b"c 2x, <?= a, b"  # it has no end


def test_many_placeholders_without_an_end_take_linear_time() -> None:
    text = "a" + "{{ <? [% ${" * 200_000
    assert (is_placeholder(text), first(text), len(masked(text.encode()))) == (True, 1, len(text))
