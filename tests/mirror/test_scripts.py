"""Scripts that work from a server only."""

import pytest

from absolve.mirror.browsers import may_need_server, needs_server


@pytest.mark.parametrize(
    ("script", "position", "why"),
    [
        (b"x; fetch('/a')", 3, "makes requests of its own (fetch)"),
        (b"fetch (u)", 0, "(fetch)"),
        (b"new XMLHttpRequest", 4, "(XMLHttpRequest)"),
        (b"import('./a.js')", 0, "(import)"),
        (b"if (location.host)", 4, "reads location.host,"),
        (b"location.hostname", 0, "reads location.hostname,"),
        (b"document.domain", 0, "reads document.domain,"),
        (b"navigator.serviceWorker", 10, "asks for a serviceWorker"),
        (b"importScripts('a.js')", 0, "importScripts"),
        (b"navigator.sendBeacon(u)", 10, "(sendBeacon)"),
        (b"new Image().src = u", 0, "asks for an image (new Image)"),
        (b"location.href = u", 0, "goes to a page (location.href)"),
        (b"window.location=u", 7, "goes to a page (location)"),
        (b"location.replace(u)", 0, "(location.replace)"),
    ],
)
def test_a_script_needs_a_server_by_a_word(script: bytes, position: int, why: str) -> None:
    assert may_need_server(b"<p><SCRIPT>a</script><p><script>" + script)
    assert not may_need_server(b"<script>a</script>" + script)
    ((at, text),) = needs_server(script)
    assert at == position
    assert why in text


@pytest.mark.parametrize("script", [b"", b"prefetch(a)", b"fetched()", b"location.hash = 1", b"location == a", b"open(u, '', 'location=no')", b"newImage()", b"import a from './a.js'"])
def test_other_scripts_need_none(script: bytes) -> None:
    assert needs_server(script) == []


def test_only_the_span_of_the_script_is_searched() -> None:
    assert needs_server(b"fetch() a fetch()", 7, 10) == []


def test_the_first_place_of_each_reason_is_returned() -> None:
    found = needs_server(b"fetch(a); location = b; fetch(c); new Image; location.assign(d)" + b"fetch(a);" * 9)
    assert [at for at, _ in found] == [0, 10, 34]
