"""Scripts that work from a server only."""

import pytest

from absolve.mirror.tags import may_need_server, needs_server


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
    ],
)
def test_a_script_needs_a_server_by_a_word(script: bytes, position: int, why: str) -> None:
    assert may_need_server(script)
    found = needs_server(script)
    assert found is not None
    assert found[0] == position
    assert why in found[1]


@pytest.mark.parametrize("script", [b"", b"prefetch(a)", b"fetched()", b"location.href = 'a'", b"import a from './a.js'"])
def test_other_scripts_need_none(script: bytes) -> None:
    assert needs_server(script) is None


def test_only_the_span_of_the_script_is_searched() -> None:
    assert needs_server(b"fetch() a fetch()", 7, 10) is None
