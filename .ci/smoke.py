"""Check an installed absolve from outside: `smoke.py compiled` or `smoke.py interpreted`.

Run it with the interpreter of the installation, in a folder without a copy of absolve.
"""

import ast
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
URL = "http://h/x.html"
PAGE = b"<!DOCTYPE html><base href=/a/><p><a href='b?x=1&amp;y=2'>b</a> <img src=c.png>\r\n"
RIGHT = b"<!DOCTYPE html><base href=http://h/a/><p><a href='http://h/a/b?x=1&amp;y=2'>b</a> <img src=http://h/a/c.png>\r\n"


def modules() -> list[str]:
    """Return the modules that setup.py compiles and that exist, by parsing its table, not by running it."""
    tree = ast.parse((ROOT / "setup.py").read_text("utf-8"))
    tables = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    names: list[str] = ast.literal_eval(tables["COMPILED"])
    return [name for name in names if ROOT.joinpath("src", *name.split(".")).with_suffix(".py").is_file()]


def command(*arguments: str, data: bytes = b"") -> tuple[int, bytes]:
    """Run `absolve` with these arguments and this input; return exit status and stdout. Stderr is inherited."""
    argv = [sys.executable, "-m", "absolve", *arguments]
    done = subprocess.run(argv, input=data, stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


def file_of(name: str) -> str:
    """Return the file of a module; a module that needs a missing extra is located without importing it."""
    try:
        return importlib.import_module(name).__file__ or ""
    except importlib.import_module("absolve").UsageError:
        found = importlib.util.find_spec(name)
        return found.origin or "" if found is not None else ""


def faults(wanted: str) -> Iterator[str]:
    for name in modules():
        file = file_of(name)
        if file.endswith(".py") != (wanted == "interpreted"):
            yield f"{name} is {file}, wanted {wanted}"
    written = importlib.import_module("absolve").rewrite(PAGE, media_type="text/html", url=URL)
    if written != RIGHT:
        yield f"absolve.rewrite() gave {written!r}"
    status, written = command("rewrite", "-", "--media-type", "text/html", "--url", URL, data=PAGE)
    if status or written != RIGHT:
        yield f"absolve rewrite exited {status}: {written!r}"
    status, version = command("--version")
    if status or wanted.encode() not in version:
        yield f"absolve --version exited {status}: {version!r}"


def main() -> int:
    found = list(faults(sys.argv[1]))
    print("\n".join(found) or f"{sys.argv[1]}, Python {sys.version.split()[0]}: all checks passed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
