"""The fast path of rows gives what the full computation gives."""

from html import escape

import pytest
from resolver_strategies import references_of_parts

from absolve import Document, links
from absolve.core.model import Link
from absolve.core.options import Profile
from absolve.document.entity import Entity
from absolve.document.resolved import Resolved
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.inventory.problems import WHITE_SPACE, is_never, problems, scope

OWN = (
    *("https://h/a/b.html?q", "http://a.b", "http://a.b/", "file:///a/b", "https://a-1.example/x#y", "http://h/é/a?é", "http://h/%C3%A9"),
    *("https://doc.example:443", "http://h/a;b/c", "http://h//a/b//c?d/e", "mailto:x", None),
)
HOSTS = ["http://h", "https://doc.example", "HTTP://h:80", "http://h:99999", "http://1.2.3", "https://xn--a", "http://[x", "//h", "ftp://h", ""]
PATHS = ["", "/", "/x", "x", "?x", "#x", "./x", "../x", "../../../x", "/a/../x", "a.;b", "/..;x", "a%2e", "%2e%2e/x", "?x=http://h/../", "/a b", "\\x", ":x", "y:x", "é", "/é", "/x{{/", "/{{x}}/y", "/[[x"]
BEYOND_ASCII = ("?é", "x?é=é", "é?x", "#é", "x#é?é", "//h/é?é", "http://h/é?é", "http://h?é", "../é/é", "é:é", "mailto:é", " é ", "é\n", "/é/a?é", "\xa0")


def computed(entity: Entity, link: Link) -> tuple[str, str | None, str, list[str]]:
    """Return the columns that depend on the reference by the functions of the slow path, without any cache."""
    resolved = Resolved(entity, link)
    target = resolved.target
    codes = list(problems(resolved, target))
    around = entity.data[link.start - 1 : link.start] + entity.data[link.end : link.end + 1]
    if around != b'""' and WHITE_SPACE not in codes and not is_never(resolved.reference):
        codes.append(WHITE_SPACE)
    return resolved.reference, target, scope(resolved, target), sorted(codes)


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("count", [100, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("own", OWN)
def test_rows_are_those_of_the_full_computation(own: str | None, count: int, profile: Profile) -> None:
    references = [*BEYOND_ASCII, *(f"{host}{path}" for host in HOSTS for path in PATHS), *references_of_parts(count)]
    page = "".join(f'<a href="{escape(reference)}">' for reference in references)
    bases = ("", "utf-8"), ('<base href="http://h/b/">', "iso-8859-1"), ('<base href="https://doc.example/b?c">', "utf-8")
    for base, charset in bases:
        are_computed((base + page).encode(charset, "replace"), "text/html", own, profile, charset)


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("own", OWN)
def test_rows_of_claims_are_those_of_the_full_computation(profile: Profile, own: str | None) -> None:
    claims = [f"{host}{path}".replace("\\", "/") for host in HOSTS for path in PATHS] + ["mailto:x", "javascript:1"]
    page = "".join(f'<a xml:base="{claim}"><b xml:base="../{claim}"/></a>' for claim in claims)
    are_computed(f"<feed>{page}</feed>".encode(), "application/xml", own, profile, "utf-8")


def are_computed(data: bytes, media_type: str, own: str | None, profile: Profile, charset: str) -> None:
    entity = walk(Document(data, media_type=media_type, charset=charset, url=own), Settings(profile=profile))
    found = links(data, media_type=media_type, charset=charset, url=own, profile=profile)
    events = [event for event in entity.events if isinstance(event, Link)]
    for row, link in zip(found, events, strict=True):
        assert (row.reference, row.target, row.scope, sorted(row.problems)) == computed(entity, link)
