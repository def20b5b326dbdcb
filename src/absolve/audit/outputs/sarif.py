"""SARIF 2.1.0 (OASIS): a rule for each verdict, a result for each finding, with fixes and stable fingerprints.

A fix is there only where its text is the same in the quoting of its place: a reference of plain characters in a file
that is no archive. `absolve audit --fix` writes the others, too.
"""

from __future__ import annotations

import json
import re
from typing import IO, TYPE_CHECKING, Any, Final

from absolve import __version__
from absolve.audit.outputs.findings import document_uri, found, level
from absolve.audit.verdicts import FOUND, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.findings import Finding
    from absolve.audit.outputs.source import Source

_BRACKETS: Final = re.compile(r"[\[\]\\]")
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PLAIN: Final = re.compile(r"[A-Za-z0-9\-._~:/?#@!$*+;=%]+")  # no quoting of HTML, XML, CSS or JSON changes these
_ONE_URL: Final = re.compile(r"[A-Za-z0-9\-._~:/?#@!$*+;=%(),]+")  # nor these in an attribute with one URL
_OTHERS: Final = frozenset({"srcset", "imagesrcset", "ping", "archive", "style"})


def write(source: Source, file: IO[bytes]) -> None:
    """Write one log with one run, for example with `{"ruleId": "broken", "level": "error", ...}`, result by result."""
    head, _, tail = json.dumps(_log(source), indent=1, ensure_ascii=False).partition('"results": []')
    file.write(f'{head}"results": ['.encode())
    separator = "\n  "
    for finding in found(source):
        file.write((separator + json.dumps(_result(finding, source), ensure_ascii=False)).encode())
        separator = ",\n  "
    for result in _absent(source):
        file.write((separator + json.dumps(result, ensure_ascii=False)).encode())
        separator = ",\n  "
    file.write(f"]{tail}\n".encode())


def _log(source: Source) -> dict[str, Any]:
    rules = [
        {
            "id": verdict,
            "name": words(verdict).name,
            "shortDescription": {"text": words(verdict).meaning},
            "defaultConfiguration": {"level": level(verdict, source)},
        }
        for verdict in FOUND
    ]
    driver = {"name": "absolve", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, source: Source) -> dict[str, Any]:
    uri = document_uri(finding.document)
    result: dict[str, Any] = {
        "ruleId": finding.verdict,
        "ruleIndex": FOUND.index(finding.verdict),
        "level": level(finding.verdict, source),
        "message": {"text": _text(finding.message)},
        "locations": [_location(finding, uri)],
        "partialFingerprints": {"absolveFinding/v1": finding.identity},
    }
    if finding.is_new is not None:
        result["baselineState"] = "new" if finding.is_new else "unchanged"
    fix, (element, attribute) = finding.fix, finding.site
    plain = _PLAIN if element == "css" or not attribute or attribute in _OTHERS else _ONE_URL
    if fix is not None and not finding.entity and finding.start >= 0 and plain.fullmatch(fix):
        deleted = {"byteOffset": finding.start, "byteLength": finding.end - finding.start}
        replacement = {"deletedRegion": deleted, "insertedContent": {"text": fix}}
        change = {"artifactLocation": {"uri": uri}, "replacements": [replacement]}
        result["fixes"] = [{"description": {"text": _text(f"Write {fix}")}, "artifactChanges": [change]}]
    return result


def _absent(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the results that only the baseline has (3.27.24)."""
    if source.news is None:
        return
    names = "verdict, document, reference, url, detail"
    for verdict, document, reference, url, detail in source.rows(
        f"SELECT {names} FROM ({source.select('baseline')}) WHERE change = 'healed'"  # noqa: S608 - names of ours
    ):
        text = ": ".join(part for part in (words(verdict).name, reference or url, detail) if part)
        yield {
            "ruleId": verdict,
            "baselineState": "absent",
            "message": {"text": _text(text)},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": document_uri(document or url)}}}],
        }


def _text(text: str) -> str:
    r"""Return a plain text message without embedded links (3.11.6): for example `\[a\](b)` for `[a](b)`."""
    return _BRACKETS.sub(r"\\\g<0>", text) if "](" in text else text


def _location(finding: Finding, uri: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.entity:  # an inner document's offset is not a file offset
        location["logicalLocations"] = [{"fullyQualifiedName": finding.entity}]
    elif finding.line > 0:
        physical["region"] = {"startLine": finding.line}
        if finding.column > 0:
            physical["region"]["startColumn"] = finding.column
    return location
