"""Content Security Policies: of a header as meta elements, with the sources of a local copy, and what they allow."""

import pytest

from absolve.formats.html import security_policy
from absolve.formats.html.security_policy import allows, as_meta, for_copy, of_header
from absolve.urls.source_lists import directives, matches

PAGE = "http://h/a/b"


def holds(source: str) -> bool:
    return matches([source], "http://h/", PAGE, by_path=False)


@pytest.mark.parametrize(("policy", "new"), [
    *((same, same) for same in ("", ";;", "img-src *", "img-src file:", "script-src 'nonce-a'", "script-src 'NONE'")),
    *((same, same) for same in ("img-src data: blob:", "default-src 'self'", "img-src http://away", "upgrade-insecure-requests")),
    ("IMG-SRC http://h", "IMG-SRC http://h 'self' file: http://*.localhost:*"),
    ("img-src data: http: ; font-src *.h", "img-src data: http: 'self' file: http://*.localhost:* ; font-src *.h"),
    ("style-src 'SELF' http:;script-src 'none'", "style-src 'SELF' http: file: http://*.localhost:*;script-src 'none'"),
    ("script-src h/x.js 'nonce-a'; frame-ancestors h", "script-src h/x.js 'nonce-a' 'self' file: http://*.localhost:*; frame-ancestors h"),
])
def test_a_directive_gets_local_sources_where_it_names_a_host_of_which_the_mirror_has_files(policy: str, new: str) -> None:
    assert for_copy(policy, holds) == new


METAS: dict[str, list[str]] = {
    "script-src 'self'; frame-ancestors 'none'; report-uri /r": ["script-src 'self'"], "frame-ancestors 'none'": [],
    "sandbox allow-scripts allow-forms": [],
    "Sandbox": ["script-src 'none'; object-src 'none'; frame-src 'none'; form-action 'none'"],
    "img-src a; sandbox allow-scripts": ["img-src a", "form-action 'none'"],
}


def test_what_a_meta_element_cannot_express_is_made_stricter() -> None:
    assert {policy: as_meta(policy) for policy in METAS} == METAS
    fields = "content-security-policy: a b, c\nx-frame-options: deny\ncontent-security-policy: d"
    assert of_header(fields) == ["a b", "c", "d"], "several headers are several policies"


LIMITS = {
    "img-src 'none'": False, "script-src 'unsafe-inline'": False, "script-src 'unsafe-inline' 'sha256-a'": True,
    "default-src 'none'; script-src 'unsafe-inline'": False, "default-src 'none'": True,
    "script-src 'unsafe-inline'; script-src-attr 'none'": True, "sandbox allow-forms": True,
    "sandbox allow-Scripts": False, "require-trusted-types-for 'script'": True,
}


def test_a_policy_limits_scripts_unless_every_inline_one_may_run() -> None:
    assert {policy: security_policy.limits_scripts(policy) for policy in LIMITS} == LIMITS


@pytest.mark.parametrize(("policy", "kind", "urls"), [
    ("img-src 'none'", "script", {"http://o/s.js": True}),
    ("script-src 'self'", "script", {"http://h/s.js": True, "http://o/s.js": False, "https://h/s.js": True}),
    ("script-src o", "script", {"http://o/s.js": True}),
    ("script-src o/s/", "script", {"http://o/q/s.js": False}),
    ("script-src o/q/", "script", {"http://o/q/s.js": True}),
    ("script-src o:8080", "script", {"http://o/s.js": False}),
    ("script-src o:*", "script", {"http://o:9/s.js": True}),
    ("script-src *.o", "script", {"http://o/s.js": False, "http://a.b.o/s.js": True}),
    ("script-src https:", "script", {"http://o/s.js": False}),
    ("script-src *", "script", {"http://o/s.js": True}),
    ("script-src 'none'", "script", {"http://h/s.js": False}),
    ("script-src 'none'; script-src *", "script", {"http://h/s.js": False}),
    ("script-src * 'strict-dynamic'", "script", {"http://h/s.js": False}),
    ("default-src 'self'; script-src o", "script", {"http://h/s.js": False}),
    ("script-src-elem o; script-src 'none'", "script", {"http://o/s.js": True}),
    ("default-src 'self'", "frame", {"http://o/": False}),
    ("child-src o; default-src 'self'", "frame", {"http://o/": True}),
    ("object-src 'none'", "object", {"http://h/": False}),
    (f"script-src o:{'1' * 5000}", "script", {"http://o/s.js": False}),
    (f"script-src {'x ' * 499}o", "script", {"http://o/s.js": True}),
    (f"script-src {'x ' * 500}o", "script", {"http://o/s.js": False}),
])
def test_a_policy_allows_the_urls_of_its_sources(policy: str, kind: str, urls: dict[str, bool]) -> None:
    assert {url: allows(directives(policy), kind, url, PAGE) for url in urls} == urls


def test_a_nonce_allows_a_script_and_a_redirect_is_not_judged_by_its_path() -> None:
    found = directives("script-src 'nonce-a' o/s/")
    assert allows(found, "script", "http://x/", PAGE, "a")
    assert not allows(found, "script", "http://x/", PAGE, "A")
    assert allows(found, "script", "http://o/q", PAGE, by_path=False)
