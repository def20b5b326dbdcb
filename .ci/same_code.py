"""Compare the code of two revisions: list modules that differ beyond comments, docstrings and module names.

    python .ci/same_code.py HEAD~1            # that revision and the working tree
    python .ci/same_code.py HEAD~2 HEAD~1     # two revisions
    python .ci/same_code.py HEAD~1 absolve.old.name=absolve.new.name    # renames that git cannot detect

Files that git reports as renamed are paired; module names are mapped back before the syntax trees are compared, and
the order of imports does not count. Exit status 1 if any module differs. Declarations (.pxd) are compared as text.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDERS: Final = ("src", "tests", "benchmarks", "examples", "setup.py")
_NAME: Final = re.compile(r"absolve(?:\.\w+)+(?::\w+)?")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout  # noqa: S607


def dotted(path: str) -> str:
    """Return the name of a module, without its folder src."""
    return path.removeprefix("src/").rpartition(".")[0].removesuffix("/__init__").replace("/", ".")


class Canonical(ast.NodeTransformer):
    """Removes module renames from a tree: every imported name in full; `renamed` maps new module names to old ones."""

    def __init__(self, renamed: dict[str, str], modules: set[str]) -> None:
        self._renamed = renamed
        self._modules = modules
        self._names: dict[str, str] = {}
        self.imports: set[str] = set()

    def old(self, name: str) -> str:
        """Map the longest prefix of a dotted name that is a module."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            module = ".".join(parts[:end])
            if module in self._modules or module in self._renamed:
                return ".".join((self._renamed.get(module, module), *parts[end:]))
        return name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Record the full name of each import; imports of C declarations are kept apart."""
        module = node.module or ""
        prefix = "cython.cimports." if module.startswith("cython.cimports.") else ""
        for alias in node.names:
            full = prefix + self.old(f"{module.removeprefix(prefix)}.{alias.name}")
            self.imports.add(full)
            self._names[alias.asname or alias.name] = full.removeprefix("cython.cimports.")

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and _NAME.fullmatch(node.value):
            module, colon, name = node.value.partition(":")
            return ast.Constant(self.old(module) + colon + name)
        return node


def plain(source: str, canonical: Canonical) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            node.body[:1] = []
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]:
        canonical.visit_ImportFrom(node)
    found = ast.dump(canonical.visit(tree))
    return "\n".join([*sorted(canonical.imports), found])


def declared(source: str, canonical: Canonical) -> str:
    lines = [line.partition("#")[0].rstrip() for line in source.splitlines()]
    return "\n".join(sorted(_NAME.sub(lambda found: canonical.old(found.group()), line) for line in lines if line))


def moved(given: dict[str, str], old: str) -> list[tuple[str, str]]:
    """Return the files of modules that the command line lists as renamed."""
    found = []
    for before, after in given.items():
        path = f"src/{before.replace('.', '/')}"
        names = git("ls-tree", "--name-only", old, f"{path}.py", f"{path}/__init__.py").split()
        found += [(name, f"src/{after.replace('.', '/')}.py") for name in names]
    return found


def main() -> int:
    given = dict(word.split("=") for word in sys.argv[1:] if "=" in word)
    old, *new = [word for word in sys.argv[1:] if "=" not in word]
    rows = git("diff", "-M30%", "-l0", "--name-status", old, *new, "--", *FOLDERS).splitlines()
    pairs = [(names[0], names[-1]) for kind, *names in (row.split("\t") for row in rows) if kind[0] in "RM"]
    pairs = [pair for pair in pairs if pair[1].endswith((".py", ".pxd"))]
    pairs = [pair for pair in pairs if dotted(pair[0]) not in given] + moved(given, old)
    others = [row for row in rows if row[0] in "AD" and row.endswith((".py", ".pxd"))]
    modules = {dotted(path) for path in git("ls-tree", "-r", "--name-only", old, "src").splitlines()}
    in_source = [pair for pair in pairs if pair[0].startswith("src/") and pair[0] != pair[1]]
    renamed = {dotted(after): dotted(before) for before, after in in_source}
    renamed |= {after: before for before, after in given.items()}
    different = []
    for before, after in pairs:
        texts = [git("show", f"{old}:{before}")]
        texts.append(git("show", f"{new[0]}:{after}") if new else Path(after).read_text("utf-8"))
        compare = plain if after.endswith(".py") else declared
        if compare(texts[0], Canonical({}, modules)) != compare(texts[1], Canonical(renamed, modules)):
            different.append(after)
    print(f"{len(pairs) - len(different)} of {len(pairs)} changed files have the same code")
    print("\n".join([*(f"different: {path}" for path in different), *(row.replace("\t", " ") for row in others)]))
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
