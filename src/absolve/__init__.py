"""Find the base URL of each document by RFC 1808 section 3, resolve its links by section 4, rewrite or list them.

In: a document (bytes, text or `Document`) and its retrieval URL. Out: the document with absolute links, in which no
other byte changes (`rewrite`, checked by `verify`), a row for each link (`links`), its base URL (`base`).
Trees, Arrow and Spark have modules of their own: `absolve.trees`, `absolve.arrow`, `absolve.spark`.

The terms are in docs/glossary.md, the way through the code in docs/architecture.md, the reasons in docs/decisions.md.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"  # pyproject.toml reads this line, without an import

TYPE_CHECKING = False  # type checkers assume True; importing typing takes longer than all the rest
if TYPE_CHECKING:
    from absolve import arrow, spark, trees
    from absolve.api import base, documents, links, rewrite, verify
    from absolve.audit.library import Audit, Cause, Finding, OldURL, audit
    from absolve.audit.tables import schema
    from absolve.core.errors import (
        AbsolveError,
        Diagnostic,
        DiagnosticWarning,
        DocumentError,
        MissingFileError,
        MissingPackageError,
        UsageError,
    )
    from absolve.core.model import BaseClaim, BaseURL, ClaimOutcome, Document, Layer
    from absolve.core.options import (
        AuditOptions,
        FileOptions,
        Headers,
        Kind,
        MirrorOptions,
        Options,
        PlanOptions,
        Problem,
        Profile,
        Scope,
        TreeOptions,
        WalkOptions,
    )
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.inventory.documents import DocumentRow
    from absolve.mirror.library import Mirror, MirrorNote, MirrorPage, MirrorPlan, MissingURL, mirror, mirror_plan
    from absolve.run.files import Policy, only, remap, rewrite_file, walk_links
    from absolve.run.library_inputs import document_of, items
    from absolve.run.web.fetching import afetch, fetch
    from absolve.urls import resolve

__all__ = [
    "AbsolveError",
    "Audit",
    "AuditOptions",
    "BaseClaim",
    "BaseURL",
    "Cause",
    "ClaimOutcome",
    "Diagnostic",
    "DiagnosticWarning",
    "Document",
    "DocumentError",
    "DocumentRow",
    "FileOptions",
    "Finding",
    "Headers",
    "Kind",
    "Layer",
    "Mirror",
    "MirrorNote",
    "MirrorOptions",
    "MirrorPage",
    "MirrorPlan",
    "MissingFileError",
    "MissingPackageError",
    "MissingURL",
    "OldURL",
    "Options",
    "PlanOptions",
    "Policy",
    "Problem",
    "Profile",
    "Resolved",
    "Row",
    "Scope",
    "TreeOptions",
    "UsageError",
    "WalkOptions",
    "__version__",
    "afetch",
    "arrow",
    "audit",
    "base",
    "document_of",
    "documents",
    "fetch",
    "items",
    "links",
    "mirror",
    "mirror_plan",
    "only",
    "remap",
    "resolve",
    "rewrite",
    "rewrite_file",
    "schema",
    "spark",
    "trees",
    "verify",
    "walk_links",
]

_MODULES = {
    "AbsolveError": "core.errors",
    "Audit": "audit.library",
    "AuditOptions": "core.options",
    "BaseClaim": "core.model",
    "BaseURL": "core.model",
    "Cause": "audit.library",
    "ClaimOutcome": "core.model",
    "Diagnostic": "core.errors",
    "DiagnosticWarning": "core.errors",
    "Document": "core.model",
    "DocumentError": "core.errors",
    "DocumentRow": "inventory.documents",
    "FileOptions": "core.options",
    "Finding": "audit.library",
    "Headers": "core.options",
    "Kind": "core.options",
    "Layer": "core.model",
    "Mirror": "mirror.library",
    "MirrorNote": "mirror.library",
    "MirrorOptions": "core.options",
    "MirrorPage": "mirror.library",
    "MirrorPlan": "mirror.library",
    "MissingFileError": "core.errors",
    "MissingPackageError": "core.errors",
    "MissingURL": "mirror.library",
    "OldURL": "audit.library",
    "Options": "core.options",
    "PlanOptions": "core.options",
    "Policy": "run.files",
    "Problem": "core.options",
    "Profile": "core.options",
    "Resolved": "document.resolved",
    "Row": "inventory.columns",
    "Scope": "core.options",
    "TreeOptions": "core.options",
    "UsageError": "core.errors",
    "WalkOptions": "core.options",
    "afetch": "run.web.fetching",
    "arrow": "arrow",  # a module
    "audit": "audit",  # the package can be called
    "base": "api",
    "document_of": "run.library_inputs",
    "documents": "api",
    "fetch": "run.web.fetching",
    "items": "run.library_inputs",
    "links": "api",
    "mirror": "mirror",  # the package can be called
    "mirror_plan": "mirror.library",
    "only": "run.files",
    "remap": "run.files",
    "resolve": "urls",
    "rewrite": "api",
    "rewrite_file": "run.files",
    "schema": "audit.tables",
    "spark": "spark",
    "trees": "trees",
    "verify": "api",
    "walk_links": "run.files",
}
_OPTIONAL = {"arrow", "spark"}  # modules that need an extra


def __dir__() -> list[str]:
    """Return the public names, for `dir`, `help` and completion; every other module may move."""
    return [name for name in __all__ if name not in _OPTIONAL or name in globals()] + ["__doc__", "__file__"]


if not TYPE_CHECKING:  # else any name would be right

    def __getattr__(name: str) -> object:
        """Import a public name on first use, so that `import absolve` is fast (PEP 562)."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"absolve.{_MODULES[name]}")
        value: object = module if _MODULES[name] == name else getattr(module, name)
        globals()[name] = value
        return value
