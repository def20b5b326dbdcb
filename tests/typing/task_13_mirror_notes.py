"""Print where a mirror differs from the site that it is a copy of."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

CAPTURE = Path(__file__).parents[2] / "fixtures" / "journal.warc"

heard: list[absolve.Diagnostic] = []
with TemporaryDirectory() as folder:
    result = absolve.mirror([CAPTURE.read_bytes()], folder + "/mirror", on_diagnostic=heard.append, jobs=1)
lines = [f"{note.path}:{note.line or 0}: {note.code}: {note.text}" for note in result.notes]
assert lines[0].startswith("example.com/journal/2009/07.htm:2: charset: ")
assert heard == result.diagnostics == []
