"""Make the links of a page absolute: bytes for bytes, str for str."""

import absolve

page: bytes = absolve.rewrite(b"<a href=y>", url="http://example.com/dir/page.html")
text: str = absolve.rewrite("<a href=y>", url="http://example.com/dir/page.html", profile="whatwg", fragments="absolute")
assert page == text.encode() == b"<a href=http://example.com/dir/y>"
