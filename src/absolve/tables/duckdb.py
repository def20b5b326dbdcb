"""DuckDB: a new database with tables, and views for the most common questions.

In: rows as batches, `Columns`, lists or streams of Arrow, and a path. Out: the database file.
"""

from __future__ import annotations

import errno
import sys
from contextlib import closing, suppress
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError
from absolve.inventory import batches
from absolve.tables import SCHEMA_VERSION, Sink, defined

try:
    import duckdb
except ImportError as error:
    raise MissingPackageError("this needs DuckDB: pip install 'duckdb>=2.0.1'") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.tables import Table

_CHUNKS: Final = 256  # that wait at most: many are inserted at once, since an insert is slow
# No extension is fetched or loaded, and Python variables are not tables.
CLOSED: Final[dict[str, Any]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}

HOST: Final = "lower(regexp_extract(target, '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)', 1))"
HAS_PROBLEM: Final = {code: f"list_contains(problems, '{code}')" for code in ("unresolved", "malformed")}


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], path: Path) -> None:
    """Create a database with these tables and their views, for example `links` and `by_host`."""
    try:
        with closing(duckdb.connect(str(path), config=CLOSED)) as database:
            add_tables(database, tables, chunks)
            for table in tables:
                database.execute(f"COMMENT ON TABLE {table.name} IS 'absolve schema {SCHEMA_VERSION}'")
                for name, select in table.views.items():
                    database.execute(f"CREATE VIEW {name} AS {select.format(host=HOST, **HAS_PROBLEM)}")
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:  # e.g. a full disk
        raise OSError(errno.EIO, str(error).partition("\n")[0].rpartition(": ")[2]) from error
    finally:
        with suppress(OSError):
            Path(f"{path}.wal").unlink()  # left behind after a failure


def add_tables(database: Any, tables: Sequence[Table], chunks: Iterable[tuple[str, Any]], prefix: str = "") -> None:
    """Create tables, with a prefix before their names, in an open database, and insert the chunks."""
    for table in tables:
        described = defined(table.columns)
        database.execute(f"CREATE TABLE IF NOT EXISTS {prefix}{table.name} ({described})")
    waiting: dict[str, list[Any]] = {table.name: [] for table in tables}
    number = size = 0
    for name, chunk in chunks:
        waiting[name].append(chunk)
        number += 1
        size += _size(chunk)
        if number >= _CHUNKS or size >= batches.MOST_BYTES:
            _insert(database, tables, waiting, prefix)
            number = size = 0
    _insert(database, tables, waiting, prefix)


def _size(chunk: Any) -> int:
    """Return an estimate of the bytes of a chunk."""
    if isinstance(chunk, list):
        return sum(len(str(row)) for row in chunk)
    return batches.MOST_BYTES if hasattr(chunk, "__arrow_c_stream__") else int(chunk.weight())


def _insert(database: Any, tables: Sequence[Table], waiting: dict[str, list[Any]], prefix: str) -> None:
    """Insert the waiting chunks, and empty their lists."""
    for table in tables:
        chunks, waiting[table.name] = waiting[table.name], []
        for rows in _streams(tuple(table.columns), chunks):
            put(database, f"{prefix}{table.name}", rows)


def _streams(names: tuple[str, ...], chunks: list[Any]) -> Iterator[Any]:
    """Yield the rows of chunks as streams of Arrow."""
    if chunks and isinstance(chunks[0], list):  # few rows each
        chunks = [batches.batch(names, list(chain.from_iterable(chunks)))]
    yield from (chunk for chunk in chunks if hasattr(chunk, "__arrow_c_stream__"))
    rest = (chunk for chunk in chunks if not hasattr(chunk, "__arrow_c_stream__"))
    joined = [
        chunk if isinstance(chunk, batches.Batch) else batches.batch(names, chunk)
        for chunk in batches.joined(rest, names)
    ]
    if joined:
        yield batches.stream(joined)


def put(database: Any, table: str, rows: Any) -> None:
    """Insert the rows of an object with `__arrow_c_stream__` into a table."""
    database.register("more_rows", rows)
    database.execute(f"INSERT INTO {table} SELECT * FROM more_rows")  # noqa: S608 - names of ours
    database.unregister("more_rows")


def add_function(connection: Any, name: str, function: Callable[[str], str]) -> None:
    """Let queries call a function of one text: for example, after `add_function(c, "up", str.upper)`, `SELECT up('a')`.

    DuckDB imports numpy before it accepts any Python function, but does not use it where all values are texts. So
    without numpy, empty modules with its name are there meanwhile.
    """
    added = {} if find_spec("numpy") is not None else _empty_numpy()
    before = {key: sys.modules[key] for key in added if key in sys.modules}
    sys.modules.update(added)
    try:
        connection.create_function(name, function, ["VARCHAR"], "VARCHAR")
    except duckdb.InvalidInputException as error:
        if added:
            raise
        raise MemoryError("numpy is there, but cannot be loaded") from error
    finally:
        for key in added:
            del sys.modules[key]
        sys.modules.update(before)


@cache
def _empty_numpy() -> dict[str, Any]:
    """Return the modules that DuckDB looks for."""
    names = ("numpy", "numpy._core", "numpy._core.multiarray")
    whole, core, arrays = modules = [ModuleType(name) for name in names]
    vars(whole).update(__version__="2", _core=core)
    vars(core).update(multiarray=arrays)
    return dict(zip(names, modules, strict=True))


DUCKDB: Final = Sink(batches.batch, write)
