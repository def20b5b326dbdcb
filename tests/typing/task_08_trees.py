"""Make the links of a tree of lxml absolute."""
# The stubs of lxml leave types open:
# pyright: reportUnknownMemberType=false

import lxml.html

from absolve.trees import base, links, make_links_absolute

tree = lxml.html.document_fromstring("<a href=y>")
assert [row.target for row in links(tree, "http://example.com/", profile="rfc3986")] == ["http://example.com/y"]
assert make_links_absolute(tree, "http://example.com/", fragments="keep") is tree
assert base(tree, "http://example.com/").url == "http://example.com/"
