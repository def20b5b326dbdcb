"""GitLab code quality: a JSON array of all findings, in the format of Code Climate that GitLab reads."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Final

from absolve.audit.outputs.findings import fingerprint, found, level, uri_of

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

SEVERITIES: Final = {"error": "major", "warning": "minor", "note": "info"}


def write(source: Source, file: IO[bytes]) -> None:
    """Write the array, a finding a line."""
    separator = "["
    for finding in found(source):
        issue = {
            "description": finding.message,
            "check_name": finding.verdict,
            "fingerprint": fingerprint(finding),
            "severity": SEVERITIES[level(finding.verdict, source, is_new=finding.is_new)],
            "location": {"path": uri_of(finding.document), "lines": {"begin": max(finding.line, 1)}},
        }
        file.write(f"{separator}\n{json.dumps(issue, ensure_ascii=False)}".encode())
        separator = ","
    file.write(b"[]\n" if separator == "[" else b"\n]\n")
