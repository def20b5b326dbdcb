"""Catch the errors: of a call, of a document, of a package that is missing."""

import absolve

try:
    absolve.rewrite(b"\x89PNG\r\n\x1a\n", name="picture.png")
except absolve.DocumentError as error:
    diagnostic: absolve.Diagnostic = error.diagnostic
    assert diagnostic.code == "unknown-media-type"
try:
    absolve.rewrite("<a href=x>", url="page.html")
except absolve.UsageError as error:
    assert "absolute URL" in error.message  # noqa: PT017 - an example, not a test
assert issubclass(absolve.MissingPackageError, ImportError)
assert issubclass(absolve.MissingPackageError, absolve.AbsolveError)
