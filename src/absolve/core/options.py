"""The words and options of the public functions, as types: for type checkers, editors and `help`.

Each `Literal` has the words that the code checks (`KINDS`, `SCOPES`, `PROBLEMS`, `PROFILES`), and each `TypedDict` the
keyword arguments of functions that share them. The code imports this module for its types only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

from absolve.core.errors import Diagnostic
from absolve.core.protocols import URLObject  # noqa: TC001 - likewise

Profile: TypeAlias = Literal["rfc1808", "rfc3986", "whatwg", "browser"]
Kind: TypeAlias = Literal[
    "navigation",
    "image",
    "media",
    "script",
    "stylesheet",
    "frame",
    "form",
    "font",
    "feed",
    "metadata",
    "other",
]
Scope: TypeAlias = Literal["same-document", "internal", "external", "other"]
Problem: TypeAlias = Literal[
    "unresolved",
    "unsuitable-base",
    "relative-base",
    "before-base",
    "ignored-base",
    "malformed",
    "too-long",
    "above-root",
    "divergent",
    "empty",
    "insecure",
    "scheme-relative",
    "backslash",
    "whitespace",
    "placeholder",
    "companion",
]
Fragments: TypeAlias = Literal["keep", "absolute"]
BaseHref: TypeAlias = Literal["keep", "empty"]

Text: TypeAlias = str | bytes
AnyPath: TypeAlias = str | PathLike[str]
Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[Text, Text]] | Text
Rules: TypeAlias = Mapping[str, str] | Iterable[tuple[str, ...]]
OnDiagnostic: TypeAlias = Callable[[Diagnostic], object]


class Limits(TypedDict, total=False):
    """The limits of a document; whatever exceeds one stays unchanged, with a diagnostic."""

    max_depth: int  # documents inside documents
    max_size: int  # bytes
    max_links: int
    max_decompressed: int  # bytes
    max_url: int  # characters
    max_rows_bytes: int  # bytes of text in rows


class TreeOptions(Limits, total=False):
    """The options of `absolve.trees`."""

    name: str
    charset: str
    profile: Profile
    fragments: Fragments
    base: BaseHref


class Choices(Limits, total=False):
    """How links are found and resolved, and which of them change."""

    profile: Profile
    ignore_base: str  # words of --ignore-base, joined by commas
    fragments: Fragments
    base: BaseHref
    json_ld: bool


class Options(Choices, total=False):
    """The options of `absolve.rewrite`, `links`, `documents`, `base` and `verify`: choices, and facts about the source.

    `headers` are the header fields of the HTTP response that the document came in: a mapping, pairs, or text as curl
    writes it. `on_diagnostic` is called with each `Diagnostic`; by default they are warnings.
    """

    name: str | PathLike[str] | None
    media_type: str | None
    charset: str | None
    url: str | URLObject | None
    headers: Headers | None
    on_diagnostic: OnDiagnostic | None


class PlanOptions(TypedDict, total=False):
    """The options of `absolve.mirror_plan`; the command's options of the same names describe them."""

    at: str | None
    keep_errors: bool
    same: str | None
    absent: Literal["keep", "sever"]
    profile: Profile


class MirrorOptions(PlanOptions, total=False):
    """The options of `absolve.mirror`: likewise, but for `jobs`, which is 1 by default."""

    url: str | URLObject | None
    include: str | Iterable[str]
    exclude: str | Iterable[str]
    start: str | URLObject | None
    depth: int | None
    prune: bool
    jobs: int
    on_diagnostic: OnDiagnostic | None


class AuditOptions(TypedDict, total=False):
    """The options of `absolve.audit` that are not parameters of its own; the command's options describe them.

    `jobs` is 1 by default; an option that may be repeated takes one value, or several.
    """

    url: str | URLObject | None
    old_url: str | Iterable[str]
    server: str
    similar: float
    ignore: str | Iterable[str]
    answers: AnyPath | Iterable[AnyPath]
    baseline: AnyPath | None
    changed_since: str | None
    fail_on: str | Iterable[str]
    include: str | Iterable[str]
    exclude: str | Iterable[str]
    profile: Profile
    jobs: int
    on_diagnostic: OnDiagnostic | None


class _SelectingOptions(Choices, total=False):
    """What `absolve.rewrite_file` and `absolve.walk_links` have in common."""

    media_type: str | None
    charset: str | None
    url: str | URLObject | None
    headers: Headers | None
    kind: Kind | Iterable[Kind]
    scope: Scope | Iterable[Scope]
    problem: Problem | Iterable[Problem]
    on_diagnostic: OnDiagnostic | None


class FileOptions(_SelectingOptions, total=False):
    """The options of `absolve.rewrite_file` that are not parameters of its own."""

    remap: Rules


class WalkOptions(_SelectingOptions, total=False):
    """The options of `absolve.walk_links`: the options of `absolve links` by the same names."""

    include: str | Iterable[str]
    exclude: str | Iterable[str]
    url_map: Mapping[Any, str]  # the keys are paths


class ClusterOptions(Choices, total=False):
    """The options of `absolve.spark.links` and `absolve.spark.rewrite`."""

    media_type: str | None
    charset: str | None
    url: str | None
