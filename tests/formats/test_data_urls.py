"""Documents in `data:` URLs: listed, never changed, and without the base of the document around them."""

from urllib.parse import quote

import pytest

import absolve

LINK = "<a href=http://o/x>"


def test_documents_nested_too_deep_stay_and_one_that_is_not_well_formed_is_reported() -> None:
    page = LINK
    for _ in range(40):
        page = f"<iframe src='data:text/html,{quote(page, safe='/:=')}'></iframe>"
    with pytest.warns(absolve.DiagnosticWarning, match="max-depth"):
        assert not [row for row in absolve.links(page, url="http://h/") if row.reference == "http://o/x"]
    with pytest.raises(absolve.DocumentError, match="links"):
        absolve.links(f"<a href='data:text/html,{LINK}'>" * 10, max_links=15)
    found: list[absolve.Diagnostic] = []
    page = "<img src='data:image/svg+xml,<svg><a href=x>'><a href=y>"
    assert len(list(absolve.links(page, url="http://h/", on_diagnostic=found.append))) == 2
    assert [(one.code, one.line, one.failed) for one in found] == [("not-well-formed", 1, False)]
