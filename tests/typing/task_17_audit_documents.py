"""Audit pages that are in memory."""

import absolve

pages = [
    absolve.Document('<a href="/there">a</a><a href="/gone">b</a>', url="https://h/"),
    absolve.Document("<p>x</p>", url="https://h/there", media_type="text/html"),
]
found = absolve.audit(pages, url="https://h/")
assert [(one.document, one.verdict) for one in found.findings if one.table == "links"] == [("https://h/", "broken")]
