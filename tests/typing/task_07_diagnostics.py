"""Read what absolve reports about a page."""

import warnings

import absolve

reported: list[absolve.Diagnostic] = []
absolve.rewrite("<a href=x>", name="page.html", on_diagnostic=reported.append)
assert [(one.code, one.name, one.failed) for one in reported] == [("no-base", "page.html", False)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    absolve.rewrite("<a href=x>")
assert isinstance(caught[0].message, absolve.DiagnosticWarning)
assert caught[0].message.diagnostic.code == "no-base"
