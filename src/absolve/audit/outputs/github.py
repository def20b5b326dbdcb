"""GitHub workflow commands: an annotation for each cause, at the place of its first finding.

GitHub shows ten errors and ten warnings of a step, so the causes with most links come first.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from absolve.audit.outputs.findings import level, uri_of
from absolve.audit.outputs.words import of_rule, words
from absolve.audit.tables import FINE, QUIET, RULES_FOUND
from absolve.core.printable import printable

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_SELECT: Final = (
    "SELECT verdict, title, links, pages, example_document, example_line, example_column, fix, suggestion, rule"
    " FROM ({}) WHERE verdict NOT IN {} ORDER BY links DESC, cause"
)


def write(source: Source, file: IO[bytes]) -> None:
    """Write a line for each cause, and for each rule with a verdict."""
    rows = source.rows(_SELECT.format(source.select("causes"), (*QUIET, *FINE)))
    for verdict, title, links, pages, document, line, column, fix, suggestion, rule in rows:
        message = f"{printable(title or '')} ({links or 0} links on {pages or 0} pages)"
        for name, value in (("write", fix), ("perhaps", suggestion), ("a rule to add", rule)):
            message += f"; {name}: {printable(value)}" if value else ""
        _line(source, file, verdict, document, line, column, message)
    for verdict, path, line, text, *why in source.rows(RULES_FOUND.format(f"({source.select('rules')})")):
        _line(source, file, verdict, path, line, None, f"{printable(of_rule(*why))}: {printable(text or '')}")


def _line(
    source: Source, file: IO[bytes], verdict: str, document: str | None, line: Any, column: Any, message: str
) -> None:
    found = {"file": uri_of(document) if document else None, "line": line, "col": column, "title": words(verdict).name}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in found.items() if value)
    file.write(f"::{COMMANDS[level(verdict, source)]} {properties}::{_data(message)}\n".encode())


def _data(text: str) -> str:
    """Escape as @actions/core does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
