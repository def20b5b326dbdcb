"""Rows reach DuckDB through Arrow's C interface unchanged, and nothing of them stays in memory."""

import gc
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from absolve.core import arrow_stream
from absolve.core.arrow_stream import BOOL, DOUBLE, LISTS, NUMBER, TEXT, WORD, Field
from absolve.inventory import batches
from absolve.tables.duckdb import put

HOSTILE = ["a\0b", "\0", "", "one\r\ntwo", "it's \"quoted\", `so`", "\\N", "NULL", "\U0001f600", "\ud800", "x" * 10_000_000, None]
FIELDS = [Field("t", TEXT), Field("w", WORD), Field("n", NUMBER), Field("d", DOUBLE), Field("b", BOOL), Field("l", LISTS)]


def shown(text: str | None) -> str | None:
    return text.replace("\ud800", "\ufffd") if text is not None else None


def inserted(parts: Sequence[Sequence[tuple[object, ...]]]) -> list[tuple[object, ...]]:
    with closing(duckdb.connect()) as database:
        database.execute("CREATE TABLE x (t VARCHAR, w VARCHAR, n BIGINT, d DOUBLE, b BOOLEAN, l VARCHAR[])")
        put(database, "x", batches.stream([batches.typed(FIELDS, rows) for rows in parts]))
        return database.execute("SELECT * FROM x").fetchall()


def test_hostile_texts_arrive_unchanged() -> None:
    given = [(text, text or "", -1, None, None, [text or "", "b"]) for text in HOSTILE]
    expected = [(shown(text), shown(text or ""), -1, None, None, [shown(text or ""), "b"]) for text in HOSTILE]
    assert inserted([given * 2, [], given]) == expected * 3


def test_many_batches_with_different_words_arrive_in_order() -> None:
    parts = [[(f"{at}", f"word {at % (part + 1)}", at, at / 2, at % 3 == 0, [str(at)] * (at % 3)) for at in range(3000)] for part in range(7)]
    assert inserted(parts) == [row for rows in parts for row in rows]


def test_nothing_is_held_after_an_insert() -> None:
    gc.collect()
    before = len(arrow_stream._held)
    inserted([[("a", "b", 1, 0.5, True, ["c"])]])
    gc.collect()
    assert len(arrow_stream._held) == before


def test_an_audit_where_and_a_database_need_no_arrow_and_no_numpy(tmp_path: Path) -> None:
    code = """
import sys
for name in ("pyarrow", "numpy", "scipy", "pandas", "datasketch", "rich"):
    sys.modules[name] = None
from absolve.cli import main
commands = ("links x.html -o x.duckdb", "links x.html --sql FROM,links", "audit x.html --url http://h/ -o a.html -o a.duckdb")
open("x.html", "w").write("<a href=x>")
sys.exit(any(main([*(word.replace(",", " ") for word in words.split()), "-q"]) > 1 for words in commands))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
