"""Write what has to be asked of servers: every old URL with where it should lead, every link to another site.

In: the result tables. Out: a configuration of curl, whose output `--answers` reads, a Hurl file, or a list of URLs.
curl: https://curl.se/docs/manpage.html#-K; Hurl: https://hurl.dev/docs/hurl-file.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import answered
from absolve.audit.judge import each
from absolve.core.errors import UsageError
from absolve.run import outputs
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


class Request(NamedTuple):
    """A URL to ask for: an old one with the URL that it should lead to, or without one, where nothing is expected."""

    url: str
    is_old: bool
    final: str | None = None


def write(path: Path, connection: Any) -> Path:
    """Write the requests in the form of a file name, and return its path. Raise UsageError for another suffix."""
    outputs.write(path, form_of(path)(list(_requests(connection))).encode())
    return path


def form_of(path: Path) -> Callable[[Iterable[Request]], str]:
    found = _FORMS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"--write-requests {path}: its suffix decides the form: {', '.join(_FORMS)}")
    return found


def _requests(connection: Any) -> Iterator[Request]:
    olds = [Request(one.url, is_old=True, final=one.final) for one in answered.expected(connection)]
    yield from olds
    known = {one.url for one in olds}
    found = (without_user(url) for _, url, is_inside, _ in each(connection, answered.LINKED) if not is_inside)
    yield from (Request(url, is_old=False) for url in dict.fromkeys(found) if url not in known)


def _curl(requests: Iterable[Request]) -> str:
    """Return a configuration of curl: `curl -K FILE > answers.jsonl` prints a line of JSON for each URL."""
    lines = [
        "# curl --parallel --config THIS > answers.jsonl; absolve audit ... --answers answers.jsonl",
        *("silent", "no-progress-meter", "head", "location", "max-redirs = 20", "max-time = 30"),
        *("globoff", 'proto = "=http,https"'),  # [ ] and { } in a URL are no patterns; no redirect to a file
        'write-out = "%{json}\\n"',
    ]
    for one in requests:
        lines += [f"url = {_quoted(one.url)}", "output = /dev/null"]
    return "\n".join(lines) + "\n"


def _quoted(url: str) -> str:
    return '"' + url.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hurl(requests: Iterable[Request]) -> str:
    return "\n".join(map(_hurl_entry, requests))


def _hurl_entry(one: Request) -> str:
    lines = [f"GET {_templated(one.url)}", "[Options]", "location: true", "HTTP *", "[Asserts]"]
    if one.is_old and one.final is None:
        return "\n".join([*lines, "status >= 404", "status <= 410", ""])
    lines.append("status < 400")
    if one.final is not None:
        lines.append(f'url == "{_templated(one.final.partition("#")[0])}"')
    return "\n".join([*lines, ""])


def _templated(url: str) -> str:
    """Return a URL without what a Hurl file would take for a comment, an escape, or a template."""
    return url.partition("#")[0].replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D").replace('"', "%22")


def _list(requests: Iterable[Request]) -> str:
    return "".join(f"{one.url}\n" for one in requests)


_FORMS: Final = {
    **dict.fromkeys((".curl", ".curlrc", ".cfg", ".conf"), _curl),
    ".hurl": _hurl,
    ".txt": _list,
}
