"""An ASGI middleware that makes the links of HTML pages absolute, for pages that are cached, mailed or embedded.

As a program it serves one page without a network, and prints what a client gets; yours has `app = AbsoluteLinks(app)`.
"""

import asyncio
from typing import Any

import absolve

MOST = 16 << 20  # bytes of a page that is held: a larger one passes unchanged


class AbsoluteLinks:
    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        start: dict[str, Any] | None = None
        body = bytearray()

        async def pass_on(message: dict[str, Any]) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and is_page(scope, message):
                start = message
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                is_whole = not message.get("more_body", False)
                if is_whole or len(body) > MOST:
                    changed = await asyncio.to_thread(rewritten, scope, start, bytes(body)) if is_whole else bytes(body)
                    lengths = [(b"content-length", b"%d" % len(changed))] if is_whole else []
                    headers = [field for field in start["headers"] if not is_whole or field[0].lower() not in OF_BODY]
                    await send({**start, "headers": headers + lengths})
                    await send({**message, "body": changed})
                    start = None

        await self.app(scope, receive, pass_on)


OF_BODY = {b"content-length", b"content-md5", b"etag", b"digest", b"repr-digest", b"content-digest"}


def is_page(scope: dict[str, Any], start: dict[str, Any]) -> bool:
    fields = {name.lower(): value for name, value in start["headers"]}
    is_html = fields.get(b"content-type", b"").startswith((b"text/html", b"application/xhtml+xml"))
    return is_html and b"content-encoding" not in fields and start["status"] != 206 and scope["method"] != "HEAD"


def rewritten(scope: dict[str, Any], start: dict[str, Any], body: bytes) -> bytes:
    fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]}
    host = dict(scope["headers"])[b"host"].decode("latin-1")
    path = scope.get("raw_path") or scope["path"].encode()
    try:
        return absolve.rewrite(body, url=f"{scope['scheme']}://{host}{path.decode('latin-1')}", headers=fields)
    except absolve.DocumentError:  # it has no links that can be read
        return body


async def page(_scope: dict[str, Any], _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b'<a href="next">', "more_body": True})
    await send({"type": "http.response.body", "body": b"next</a>\n"})


async def main() -> None:
    async def show(message: dict[str, Any]) -> None:
        print(message)

    scope = {"type": "http", "method": "GET", "scheme": "https", "path": "/a/b", "headers": [(b"host", b"example.com")]}
    await AbsoluteLinks(page)(scope, None, show)


if __name__ == "__main__":
    asyncio.run(main())
