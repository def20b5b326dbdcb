"""Find the base URL of each document by RFC 1808 section 3, resolve its links by section 4, rewrite or list them.

In: a document (bytes, text or `Document`) and its retrieval URL. Out: the document with absolute links, in which no
other byte changes (`rewrite`, checked by `verify`), a row for each link (`links`), its base URL (`base`).
Trees, Arrow and Spark have modules of their own: `absolve.trees`, `absolve.arrow`, `absolve.spark`.

The terms are in docs/glossary.md, the way through the code in docs/architecture.md, the reasons in docs/decisions.md.
"""

from __future__ import annotations

from importlib import import_module

from absolve._version import __version__

TYPE_CHECKING = False  # type checkers assume True; importing typing takes longer than all the rest
if TYPE_CHECKING:
    from absolve.api import base, documents, links, rewrite, verify
    from absolve.core.errors import AbsolveError, Diagnostic, DocumentError, UsageError
    from absolve.core.model import BaseURL, Document, Layer
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.inventory.documents import DocumentRow
    from absolve.mirror.plan import plan as mirror
    from absolve.urls import resolve

__all__ = [
    "AbsolveError",
    "BaseURL",
    "Diagnostic",
    "Document",
    "DocumentError",
    "DocumentRow",
    "Layer",
    "Resolved",
    "Row",
    "UsageError",
    "__version__",
    "base",
    "documents",
    "links",
    "mirror",
    "resolve",
    "rewrite",
    "verify",
]

_MODULES = {
    "AbsolveError": "core.errors",
    "BaseURL": "core.model",
    "Diagnostic": "core.errors",
    "Document": "core.model",
    "DocumentError": "core.errors",
    "DocumentRow": "inventory.documents",
    "Layer": "core.model",
    "Resolved": "document.resolved",
    "Row": "inventory.columns",
    "UsageError": "core.errors",
    "base": "api",
    "documents": "api",
    "links": "api",
    "mirror": "mirror",  # the package can be called
    "resolve": "urls",
    "rewrite": "api",
    "verify": "api",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import absolve` is fast (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"absolve.{_MODULES[name]}")
    value: object = module if _MODULES[name] == name else getattr(module, name)
    globals()[name] = value
    return value
