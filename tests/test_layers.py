"""The order of the rooms and their sizes: a room imports only rooms before it, and siblings do not import each other.

An import inside a function counts like any other. Under `if TYPE_CHECKING` siblings may name each other's types, but
still no types of later rooms. `python tests/test_layers.py` prints the sizes, as .ci/run does.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import absolve
from absolve.cli import option_table

SOURCE = Path(absolve.__file__).parent

# "a < b": b may import a. "a | b": siblings. The rooms of the package, and those of the formats.
ORDER = {
    "absolve": "core < encodings < urls < rules < formats < document < rewriting | inventory < tables < verifying < trees < api"
    " < arrow | run < mirror | audit < spark < __init__ < cli < __main__",
    "absolve.formats": "compression < events | registry < sniffing < grammars < text_files | headers < css | http | mail < html"
    " < markdown_blocks | xml | json | warc | data_urls < markdown | plist | zip",
}
RANK = {
    f"{package}.{name}": rank
    for package, order in ORDER.items()
    for rank, names in enumerate(order.split(" < "))
    for name in names.split(" | ")
}

# The most lines of Python and the most modules that a room may have. A commit that raises a number says in its message
# what it bought; one that made a room smaller lowers it.
MOST = {
    "absolve": (204, 2),
    "api": (317, 1),
    "arrow": (54, 1),
    "audit": (8_516, 30),
    "cli": (5_927, 21),
    "core": (2_899, 15),
    "document": (2_709, 11),
    "encodings": (1_855, 6),
    "formats": (15_749, 52),
    "inventory": (2_069, 7),
    "mirror": (7_141, 19),
    "rewriting": (2_572, 10),
    "rules": (6_256, 20),
    "run": (8_541, 28),
    "spark": (248, 1),
    "tables": (1_236, 7),
    "trees": (838, 3),
    "urls": (2_401, 13),
    "verifying": (2_230, 9),
}
MOST_TESTS = 47_548  # lines
MOST_C = 1_200  # lines of .pxd
MOST_OPTIONS = 75  # on the command line


class Import(NamedTuple):
    """One module imports another, for its types only or not."""

    importer: str
    imported: str
    for_types: bool
    line: int


def dotted(path: Path) -> str:
    parts = ("absolve", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in SOURCE.rglob("*.py")}


def nodes(tree: ast.AST, *, for_types: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node below this one, and whether it is there for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in {getattr(node.test, "id", ""), getattr(node.test, "attr", "")}:
            for child in node.body:
                yield from [(child, True), *nodes(child, for_types=True)]
            for child in node.orelse:
                yield from [(child, for_types), *nodes(child, for_types=for_types)]
        else:
            yield from [(node, for_types), *nodes(node, for_types=for_types)]


def imported_by(name: str) -> Iterator[Import]:
    for node, for_types in nodes(ast.parse(MODULES[name].read_text("utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: imports are written in full"
            module = (node.module or "").removeprefix("cython.cimports.")
            inner = [f"{module}.{alias.name}" for alias in node.names if alias.name != "__version__"]  # any room may
            targets = [target if target in MODULES else module for target in inner]
        line = getattr(node, "lineno", 0)
        yield from [Import(name, target, for_types, line) for target in targets if target in MODULES]


def rooms(name: str, package: str) -> str | None:
    """Return the room of a package that a module is in, the package's own `__init__` too; None for others."""
    if name == package:
        return f"{package}.__init__"
    if not name.startswith(f"{package}."):
        return None
    return f"{package}.{name.removeprefix(f'{package}.').partition('.')[0]}"


def fault(item: Import) -> str | None:
    for package in ORDER:
        importer, imported = rooms(item.importer, package), rooms(item.imported, package)
        if importer is None or imported is None or imported in {importer, "absolve.formats.__init__"}:
            continue
        if RANK[imported] > RANK[importer]:
            return "the room that is imported comes later"
        if RANK[imported] == RANK[importer] and not item.for_types:
            return "siblings do not import each other"
    return None


def test_every_module_has_its_room_in_the_order() -> None:
    found = {room for name in MODULES for package in ORDER if (room := rooms(name, package))}
    assert found <= {*RANK, "absolve.formats.__init__"}, "add the new room to ORDER"


def test_a_room_imports_only_rooms_before_it() -> None:
    imports = [item for name in MODULES for item in imported_by(name)]
    faults = {f"{item.importer}:{item.line} imports {item.imported}: {why}" for item in imports if (why := fault(item))}
    assert not faults, "\n".join(sorted(faults))


def test_the_page_of_the_architecture_has_the_rooms_in_their_order() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
    order = [names.split(" | ") for names in ORDER["absolve"].split(" < ") if not names.startswith("__")]
    drawn = " ".join(re.findall(r"^ {4}(.+)$", page, re.MULTILINE))
    assert [names.split(" | ") for names in drawn.split(" < ")] == order
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [name for names in order for name in names]
    top = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert {name for names in order for name in names} == {name for name in top if not name.startswith("__")}


def lines_of(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def files_of_tests() -> Iterator[Path]:
    return (path for kind in ("*.py", "cases/*.toml") for path in Path(__file__).parent.rglob(kind))


def sizes() -> dict[str, tuple[int, int]]:
    """Return the lines and the modules of each room; modules of no room are under `absolve`."""
    found: dict[str, list[Path]] = {}
    for path in MODULES.values():
        room, *inner = path.relative_to(SOURCE).parts
        found.setdefault(room if inner else path.stem if path.stem in MOST else "absolve", []).append(path)
    return {room: (lines_of(paths), len(paths)) for room, paths in sorted(found.items())}


def test_no_room_grows_without_a_word() -> None:
    grown = {room: size for room, size in sizes().items() if size[0] > MOST[room][0] or size[1] > MOST[room][1]}
    assert not grown
    assert lines_of(files_of_tests()) <= MOST_TESTS
    assert lines_of(SOURCE.rglob("*.pxd")) <= MOST_C
    assert options() <= MOST_OPTIONS


def options() -> int:
    """Return the number of long options on the command line."""
    rows = (row for rows in option_table.OPTIONS.values() for row in rows)
    return len({row.name for row in rows if row.names and not row.is_setting})


HEAVY = set(  # each takes longer than all that an import of absolve does
    "ada_url argparse asyncio csv dataclasses duckdb email fastwarc hypothesis html5lib inspect json logging lxml"
    " multiprocessing pyarrow pyspark pytest sqlite3 subprocess tempfile urllib.parse webencodings".split()
)


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a fresh interpreter imports with these arguments, beyond those of Python's start."""

    def run(*given: str) -> set[str]:
        argv = [sys.executable, "-X", "importtime", *given]
        done = subprocess.run(argv, capture_output=True, check=True, text=True)
        return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}

    return run(*arguments) - run("-c", "pass")


@pytest.mark.parametrize("arguments", [("-c", "import absolve"), ("-m", "absolve", "--version")], ids=" ".join)
def test_the_start_imports_no_slow_module(arguments: tuple[str, ...]) -> None:
    names = loaded(*arguments)
    assert "absolve" in names
    assert not names & HEAVY


if __name__ == "__main__":
    for room, (lines, modules) in sizes().items():
        print(f"{lines:6,} lines, {modules:3} modules: {room}")
    python, units = lines_of(MODULES.values()), lines_of(SOURCE.rglob("*.pxd"))
    print(f"{python:6,} lines, {len(MODULES)} modules in src, {units:,} lines of .pxd; {options()} options on the command line")
    print(f"{lines_of(files_of_tests()):6,} lines of tests")
