"""Find the base URL of a page, and why; rows and bases have one type of layer."""

import absolve

base: absolve.BaseURL = absolve.base("<base href='/x/'><a href=y>", url="http://example.com/")
layer: absolve.Layer = base.layer
assert (base.url, layer) == ("http://example.com/x/", "embedded")
verdicts: list[tuple[absolve.Layer, str]] = [(outcome.base.layer, outcome.verdict) for outcome in base.chain]
assert verdicts == [(absolve.Layer.EMBEDDED, "won"), (absolve.Layer.RETRIEVAL, "resolved against")]
assert next(absolve.links("<base href='/x/'>", url="http://example.com/")).base_layer == absolve.Layer.RETRIEVAL
