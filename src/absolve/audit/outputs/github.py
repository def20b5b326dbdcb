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
    "SELECT verdict, title, links, pages, example_document, example_line, example_column, fix, suggestion, rule, news,"
    " subject, n.line FROM ({}) c {} WHERE verdict NOT IN {} ORDER BY news DESC, links DESC, cause"
)
# How many findings of each cause are new, with the place of one.
_NEWS: Final = """
LEFT JOIN (
    SELECT cause, verdict, count(*) AS news, min(subject) AS subject, arg_min(line, (subject, line)) AS line FROM (
        SELECT l.cause, l.verdict, n.subject, n.line FROM links l JOIN news n
            ON n.subject = l.document AND n.entity = l.entity AND n.start = l.start AND n.verdict = l.verdict
        UNION ALL SELECT u.cause, u.verdict, n.subject, 0 FROM urls u JOIN news n
            ON n.subject = u.url AND n.verdict = u.verdict AND n.table_name = 'urls')
    GROUP BY ALL) n USING (cause, verdict)
"""
_NO_NEWS: Final = "CROSS JOIN (SELECT NULL::BIGINT AS news, NULL AS subject, NULL AS line) n"
_NEW_RULES: Final = "SELECT subject, line FROM news WHERE table_name = 'rules'"


def write(source: Source, file: IO[bytes]) -> None:
    """Write a line for each cause, and for each rule with a verdict."""
    compared = source.news is not None
    rows = source.rows(_SELECT.format(source.select("causes"), _NEWS if compared else _NO_NEWS, (*QUIET, *FINE)))
    for verdict, title, links, pages, document, line, column, fix, suggestion, rule, news, *place in rows:
        some = f", {news or 0} new" if compared else ""
        message = f"{printable(title or '')} ({links or 0} links on {pages or 0} pages{some})"
        for name, value in (("write", fix), ("perhaps", suggestion), ("a rule to add", rule)):
            message += f"; {name}: {printable(value)}" if value else ""
        where = (*place, None) if news else (document, line, column)
        _line(file, level(verdict, source, is_new=bool(news) if compared else None), verdict, where, message)
    new_rules = set(source.rows(_NEW_RULES)) if compared else None
    for verdict, path, line, text, *why in source.rows(RULES_FOUND.format(f"({source.select('rules')})")):
        known = level(verdict, source, is_new=None if new_rules is None else (path, line) in new_rules)
        _line(file, known, verdict, (path, line, None), f"{printable(of_rule(*why))}: {printable(text or '')}")


def _line(file: IO[bytes], how: str, verdict: str, place: tuple[Any, ...], message: str) -> None:
    document, line, column = place
    found = {"file": uri_of(document) if document else None, "line": line, "col": column, "title": words(verdict).name}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in found.items() if value)
    file.write(f"::{COMMANDS[how]} {properties}::{_data(message)}\n".encode())


def _data(text: str) -> str:
    """Escape as @actions/core does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
