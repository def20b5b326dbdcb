"""The import rule of the design: a layer imports only what stands before it, and siblings do not import each other.

An import inside a function counts like any other. Under `if TYPE_CHECKING` siblings may name each other's types; what
stands later in the order may not be named there either.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import absolve

SOURCE = Path(absolve.__file__).parent

LAYERS = (
    {"_cython", "_version", "arguments", "interrupts", "patterns"},
    {"shown"},
    {"errors"},
    {"buffers", "fingerprints", "growing", "linear", "ranges", "seek"},
    {"prescan", "records"},
    {"character_references", "charsets", "model", "typing"},
    {"characters", "offsets"},
    {"iso_2022_jp"},
    {"codings", "packed", "positions", "resolvers", "scopes"},
    {"edits", "parts", "slots"},
    {"kinds"},
    {"events"},
    {"bases"},  # section 3 resolves relative claims by section 4
    {"formats", "settings"},
    {"entity"},
    {"resolved"},
    {"layers", "notices"},
    {"walk"},
    {"policy", "writing"},
    {"judging", "rewriting"},
    {"ruled", "stretches", "tags"},
    {"inventory"},
    {"remapping", "selecting"},
    {"trees", "verifying"},
    {"archives", "library"},  # what is ambiguous it verifies
    {"output_folder"},
    {"arrow_batches", "globs", "outputs", "sources", "stores"},
    {"arrow", "inputs", "sinks"},
    {"engine"},
    {"audit", "mirror", "spark"},
    {"browsing"},  # verifying knows which elements the parser clones
    {""},  # `absolve` itself, the public names
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Walkers say what stands where; what becomes of it is decided after them.
NOT_FOR = {"formats": {"bases", "edits", "resolvers"}}


class Import(NamedTuple):
    """One module of ours imports another; names without the leading `absolve.`, "" for the package itself."""

    importer: str
    imported: str
    for_types: bool
    line: int


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in SOURCE.rglob("*.py")}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def nodes(tree: ast.AST, *, for_types: bool = False) -> list[tuple[ast.AST, bool]]:
    """Every node below this one, and whether it is there for type checkers only."""
    found: list[tuple[ast.AST, bool]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            found += [item for child in node.body for item in [(child, True), *nodes(child, for_types=True)]]
            found += [item for child in node.orelse for item in [(child, for_types), *nodes(child, for_types=for_types)]]
        else:
            found += [(node, for_types), *nodes(node, for_types=for_types)]
    return found


def ours(name: str) -> str | None:
    """The module's name without `absolve.`; None if it is not ours."""
    return name.removeprefix("absolve").removeprefix(".") if name.partition(".")[0] == "absolve" else None


def imported_by(name: str) -> list[Import]:
    found = []
    for node, for_types in nodes(TREES[name]):
        targets: list[str | None] = []
        if isinstance(node, ast.Import):
            targets = [ours(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: imports are written in full"
            package = ours(node.module or "")
            if package is not None:
                inner = [f"{package}.{alias.name}".lstrip(".") for alias in node.names]
                targets = [module if module in MODULES else package for module in inner]
        line = getattr(node, "lineno", 0)
        found += [Import(name, target, for_types, line) for target in targets if target is not None]
    return found


IMPORTS = [item for name in MODULES for item in imported_by(name)]


def rows(package: str) -> set[str]:
    """The modules that a package's table lists, as modules or by name: `html` and `css`, not what these two use."""
    inside = {name for name in MODULES if name.rpartition(".")[0] == package and name}
    said = {item.imported for item in IMPORTS if item.importer == package}
    for node in ast.walk(TREES[package]):
        if isinstance(node, ast.ImportFrom) and (ours(node.module or "") or "") in inside:
            said.discard(ours(node.module or "") or "")  # a name out of a module is no row
    for node in ast.walk(TREES[package]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value.partition(":")[0]
            said |= {ours(word) or "", f"{package}.{word.lstrip('.')}"}
    return inside & said


def fault(item: Import) -> str | None:
    top, other = item.importer.partition(".")[0], item.imported.partition(".")[0]
    if top == other:
        table = rows(top) if top in MODULES and MODULES[top].name == "__init__.py" else set()
        if {item.importer, item.imported} <= table and not item.for_types:
            return "siblings do not import each other"
        return None
    if RANK[other] > RANK[top]:
        return "this stands before that"
    if item.for_types:
        return None
    if RANK[other] == RANK[top]:
        return "siblings do not import each other"
    if other in NOT_FOR.get(top, ()):
        return "a walker needs only codings and what stands before them"
    return None


def test_every_module_has_its_place_in_the_order() -> None:
    assert {name.partition(".")[0] for name in MODULES} <= set(RANK), "say in LAYERS where the new module stands"


def test_a_layer_imports_only_what_stands_before_it() -> None:
    faults = {f"{item.importer}:{item.line} imports {item.imported}: {why}" for item in IMPORTS if (why := fault(item))}
    assert not faults, "\n".join(sorted(faults))


def test_the_rule_sees_what_it_forbids() -> None:
    assert fault(Import("formats.html", "resolvers.whatwg", for_types=False, line=1))
    assert fault(Import("formats.html", "walk", for_types=True, line=1))
    assert fault(Import("parts", "edits", for_types=False, line=1))
    assert fault(Import("model", "typing", for_types=False, line=1))
    assert fault(Import("resolvers.whatwg", "resolvers.rfc1808", for_types=False, line=1))
    assert not fault(Import("model", "typing", for_types=True, line=1))
    assert not fault(Import("resolvers.whatwg", "resolvers.references", for_types=False, line=1))
    assert not fault(Import("walk", "formats.html", for_types=False, line=1))


HEAVY = set(  # each takes longer than all that an import of absolve does
    "ada_url argparse asyncio csv dataclasses duckdb email fastwarc hypothesis html5lib inspect json logging lxml"
    " multiprocessing pyarrow pyspark pytest rich sqlite3 subprocess tempfile urllib.parse webencodings".split()
)


def loaded(*arguments: str) -> set[str]:
    """What a fresh interpreter imports when it is given these arguments, beyond what it imports by itself."""

    def run(*given: str) -> set[str]:
        argv = [sys.executable, "-X", "importtime", *given]
        done = subprocess.run(argv, capture_output=True, check=True, text=True)
        return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}

    return run(*arguments) - run("-c", "pass")


@pytest.mark.parametrize("arguments", [("-c", "import absolve"), ("-m", "absolve", "--version")], ids=" ".join)
def test_starting_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    names = loaded(*arguments)
    assert "absolve" in names
    assert not names & HEAVY
