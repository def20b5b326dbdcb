"""Use the header of an HTTP response: its charset, its bases, its links, the last URL of its redirects."""

import absolve

header = "HTTP/1.1 301 Moved\r\nLocation: /new/\r\n\r\nHTTP/1.1 200 OK\r\nLink: <s.css>; rel=stylesheet\r\n\r\n"
rows = list(absolve.links(b"<a href=x>", url="http://example.com/old", headers=header))
assert [row.target for row in rows if row.kind != "metadata"][-1] == "http://example.com/new/x"
fields = {"Content-Type": "text/html; charset=koi8-r", "Content-Base": "http://example.com/b/"}
assert absolve.base("<a href=x>".encode("koi8-r"), headers=fields).layer is absolve.Layer.ENCAPSULATING
