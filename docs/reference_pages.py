"""Text of the generated reference pages, in Markdown.

In: the parser, the tables of the code, and `codes.toml` and `columns.toml` (causes, examples, meanings). Out: a text
for each name of TEXTS, and the pages of the commands. `tests/test_site.py` checks that nothing is left out.
"""

from __future__ import annotations

import inspect
import json
import os
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, get_args

from markdown_text import code, escaped, fenced, table

import absolve
from absolve.audit import tables
from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import Parser, parser
from absolve.core.model import Layer
from absolve.document.settings import CHOICES
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import MORE, Row
from absolve.inventory.documents import DocumentRow
from absolve.urls import PROFILES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = Path(__file__).parent
COMMAND_PAGES: Final = DOCS / "reference" / "commands"
MOCKED: Final = ["pyspark", "py4j"]  # the site is built without them


@cache
def read(name: str) -> dict[str, Any]:
    return tomllib.loads((DOCS / name).read_text("utf-8"))


# --- commands ---------------------------------------------------------------------------------------------------------


def write_commands() -> None:
    """Write a page for each command; pages of commands that no longer exist are removed."""
    COMMAND_PAGES.mkdir(exist_ok=True)
    wanted = {f"{name}.md": command_page(name) for name in COMMANDS}
    for path in COMMAND_PAGES.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = COMMAND_PAGES / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def command_page(name: str) -> str:
    """Return the page of a command: usage, arguments, a directive for each option, and the text below its help."""
    os.environ["COLUMNS"] = "80"  # argparse wraps the usage to it
    command = parser((name,)).commands[name]
    parts = [
        f"# absolve {name}\n\n{command.description}\n",
        fenced("text", command.format_usage().removeprefix("usage: ")),
        f"```{{program}} absolve {name}\n```\n",
    ]
    for group in command.groups():
        actions = group._group_actions  # noqa: SLF001 - argparse has no other way
        if actions:
            title = group.title or ""
            parts.append(f"## {title[:1].upper()}{title[1:]}\n")
            parts += [described(command, action) for action in actions]
    if command.epilog:
        parts.append(f"## Examples and notes\n\n{fenced('text', command.epilog)}")
    return "\n".join(parts)


def described(command: Parser, action: argparse.Action) -> str:
    """Return the description of one argument or option."""
    text = escaped(_expanded(command, action))
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`\n: {text}\n"
    value = "" if action.nargs == 0 else f" {_value(action)}"
    names = ", ".join(f"{name}{value}" for name in action.option_strings)
    is_harmless = action in command.rows and command.rows[action].is_harmless
    found = " A configuration file that is merely found may set it." if is_harmless else ""
    return f"```{{option}} {names}\n\n{text[:1].upper()}{text[1:]}.{found}\n```\n"


def _expanded(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    if not action.help:
        return ""
    return command._get_formatter()._expand_help(action)  # noqa: SLF001 - as argparse prints it


def _value(action: argparse.Action) -> str:
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def commands() -> str:
    """Return the list of commands."""
    rows = [(f"[`absolve {name}`](commands/{name}.md)", command.summary) for name, command in COMMANDS.items()]
    hidden = "\n".join(f"commands/{name}" for name in COMMANDS)
    return f"{table(('command', 'task'), rows)}\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"


# --- columns ----------------------------------------------------------------------------------------------------------


def links_columns() -> str:
    """Return the columns of links, each with its type, its meaning and a real value."""
    page = (ROOT / "fixtures" / "saved-page.html").read_bytes()
    row = next(row for row in absolve.links(page, name="fixtures/saved-page.html") if row.text and row.element == "a")
    meanings = read("columns.toml")["links"]
    more = table(("column", "meaning"), [(f"`{column}`", meanings[column]) for column in MORE])
    return f"{_columns('links', Row, row)}\nOnly where `--columns` names them:\n\n{more}"


def documents_columns() -> str:
    """Return the columns of documents, each with its type, its meaning and a real value."""
    data = (ROOT / "examples" / "lighthouse.warc").read_bytes()
    row = next(iter(absolve.documents(data, name="examples/lighthouse.warc")))
    return _columns("documents", DocumentRow, row)


def _columns(name: str, kind: Any, row: Any) -> str:
    meanings = read("columns.toml")[name]
    rows = []
    for column in kind._fields:
        shown = json.dumps(getattr(row, column), ensure_ascii=False)
        rows.append((f"`{column}`", _type(kind.__annotations__[column]), meanings[column], code(shown)))
    return table(("column", "type", "meaning", "example"), rows)


def _type(annotation: Any) -> str:
    """Return an annotation as it is written: NamedTuple makes a ForwardRef of it."""
    return code(str(getattr(annotation, "__forward_arg__", annotation)))


def audit_tables() -> str:
    """Return the tables of an audit."""
    parts = []
    for name, columns in tables.TABLES.items():
        meanings = read("columns.toml")["links"] | read("columns.toml")["audit"][name]
        added = {column: kind for column, kind in columns.items() if name != "links" or column not in Row._fields}
        text = "The columns of `absolve links`, and these:\n\n" if name == "links" else ""
        rows = [(f"`{column}`", kind, meanings[column]) for column, kind in added.items()]
        parts.append(f"### Table `{name}`\n\n{text}{table(('column', 'type', 'meaning'), rows)}")
    return "\n".join(parts)


def mirror_tables() -> str:
    """Return the tables of a mirror's map."""
    parts = []
    for name, columns in read("columns.toml")["mirror"].items():
        rows = [(f"`{column}`", meaning) for column, meaning in columns.items()]
        parts.append(f"### Table `{name}`\n\n{table(('column', 'meaning'), rows)}")
    return "\n".join(parts)


# --- codes ------------------------------------------------------------------------------------------------------------


def problems() -> str:
    """Return a section for each problem code: cause, an example with its row, and what to do."""
    parts = []
    for name in PROBLEMS:
        known = read("codes.toml")["problem"][name]
        parts.append(f"## {name}\n\n{known['cause']}\n\n{_of_page(name, known)}\n**To do:** {known['do']}\n")
    return "\n".join(parts)


def example_row(name: str, known: dict[str, Any]) -> Row:
    """Return the row of a problem's example that has the problem."""
    if "beside" in known:
        return _saved_row(name, known)
    options = {option: known[option] for option in ("url", "max_url") if option in known}
    with warnings.catch_warnings(action="ignore"):  # the examples have faults on purpose
        rows = list(absolve.links(known["page"], **options))
    return next(row for row in rows if name in row.problems)


def _saved_row(name: str, known: dict[str, Any]) -> Row:
    """Return the row of an example in `page.html`, with another file beside it."""
    with tempfile.TemporaryDirectory() as folder:
        for path in (Path(folder, "page.html"), Path(folder, known["beside"])):
            path.parent.mkdir(exist_ok=True)
            path.write_text(known["page"], "utf-8")
        return next(row for row in absolve.walk_links(Path(folder, "page.html")) if name in row.problems)


def _of_page(name: str, known: dict[str, Any]) -> str:
    row = example_row(name, known)
    where = f"Retrieved from `{known['url']}`" if "url" in known else "Without a retrieval URL"
    where = f"With a file `{known['beside']}` beside it" if "beside" in known else where
    option = f", with `--max-url {known['max_url']}`" if "max_url" in known else ""
    target = code(row.target) if row.target is not None else "none"
    return f"{fenced('html', known['page'])}\n{where}{option}: target {target}, problems `{' '.join(row.problems)}`.\n"


def link_verdicts() -> str:
    """Return a section for each verdict of a link."""
    known = read("codes.toml")["verdict"]
    return _described(tables.LINK_VERDICTS, {name: _of_link(known[name]) for name in tables.LINK_VERDICTS})


def _of_link(known: dict[str, Any]) -> str:
    profile = f" (with `--profile {known['profile']}`)" if "profile" in known else ""
    return f"Example{profile}:\n\n{fenced('html', known['link'])}\n"


def url_verdicts() -> str:
    return _sections(tables.URL_VERDICTS)


def page_verdicts() -> str:
    return _sections(tables.PAGE_VERDICTS)


def rule_verdicts() -> str:
    return _sections(tables.RULE_VERDICTS)


def _sections(names: tuple[str, ...]) -> str:
    known = read("codes.toml")["verdict"]
    return _described(names, {name: f"Example: {known[name]['example']}\n" for name in names})


def _described(names: Iterable[str], examples: dict[str, str]) -> str:
    known = read("codes.toml")["verdict"]
    return "\n".join(
        f"### {name}\n\n{known[name]['cause']}\n\n{examples[name]}\n**To do:** {known[name]['do']}\n" for name in names
    )


def audit_site() -> str:
    """Return the files of the small site in which the verdicts' examples are tried."""
    site = read("codes.toml")["site"]
    return "\n".join(f"`{name}`:\n\n{fenced('text', text)}" for name, text in site.items())


def diagnostics() -> str:
    """Return a section for each diagnostic code: cause, example, what to do."""
    parts = []
    for name, known in sorted(read("codes.toml")["diagnostic"].items()):
        example = f"{fenced('text', known['example'])}\n" if "example" in known else ""
        parts.append(f"## {name}\n\n{known['cause']}\n\n{example}{_of_run(known)}\n**To do:** {known['do']}\n")
    return "\n".join(parts)


def diagnostic_files(known: dict[str, Any]) -> dict[str, bytes]:
    """Return the input files of a diagnostic's example."""
    return {name: text.encode("latin-1") for name, text in known.get("files", {}).items()}


def _of_run(known: dict[str, Any]) -> str:
    if "run" not in known:
        return ""
    files = "".join(
        f"`{name}`:\n\n{fenced('text', text.decode('latin-1')) if printable(text) else '(no text)'}\n\n"
        for name, text in diagnostic_files(known).items()
    )
    output = f"$ {known['run']}\n{printed(known)}"
    return f"{files}{fenced('console', output)}\n"


def printable(text: bytes) -> bool:
    return text != b"" and all(byte in b"\r\n\t" or 32 <= byte < 127 for byte in text)


def printed(known: dict[str, Any]) -> str:
    """Return the standard error of a diagnostic's example, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in diagnostic_files(known).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        done = run(known["run"], Path(folder))
    lines = done.stderr.replace(f"{folder}/", "").splitlines()
    return "".join(f"{line}\n" for line in lines if not line.startswith("try:"))


def others(group: str) -> str:
    """Return a table of codes that have short descriptions only."""
    described = read("codes.toml")[group].items()
    rows = [(f"`{name}`", known["cause"], known["example"], known["do"]) for name, known in described]
    return table(("code", "cause", "example", "what to do"), rows)


# --- formats, limits, the rest ----------------------------------------------------------------------------------------


def limits() -> str:
    """Return the limits, with the defaults of the code."""
    rows = []
    for name, meaning in read("columns.toml")["limits"].items():
        default = CHOICES[name]
        assert isinstance(default, int)
        rows.append((f"`--{name.replace('_', '-')}`", f"`{name}`", amount(default), *meaning))
    return table(("option", "argument", "default", "what is counted", "what exceeds it stays unchanged"), rows)


def amount(number: int) -> str:
    """Return a number as people write it: 1 Gi, 128 Mi, 1,000,000."""
    for unit, power in (("Gi", 30), ("Mi", 20), ("Ki", 10)):
        if number and number % (1 << power) == 0:
            return f"{number >> power} {unit}"
    return f"{number:,}"


def profiles() -> str:
    """Return the profiles, and a table of references on which they differ."""
    rows = [(f"`{name}`", row.summary) for name, row in PROFILES.items()]
    return table(("profile", "resolves"), rows)


def divergences() -> str:
    """Return the table of references on which the profiles differ, each resolved now."""
    rows = []
    for base, reference in read("codes.toml")["differences"]["pairs"]:
        targets = [absolve.resolve(base, reference, name) for name in get_args(absolve.Profile)]
        shown = [code(target) if target is not None else "none" for target in targets]
        rows.append((code(base), code(reference), *shown))
    return table(("base", "reference", *(f"`{name}`" for name in PROFILES)), rows)


def layers() -> str:
    """Return the names of the layers as rows and bases have them."""
    return ", ".join(f"`{layer.name.lower()}`" for layer in Layer)


def races() -> str:
    """Return the races of the benchmarks, as RESULTS.md has them."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    section = results.partition("## Beside the peers\n")[2].partition("\n## ")[0]
    return section.strip() + "\n"


# --- the library ------------------------------------------------------------------------------------------------------


def public(module: str = "absolve") -> str:
    """Return an autodoc directive for each public name of a module."""
    from sphinx.ext.autodoc.mock import mock  # only a build needs it

    with mock(MOCKED):
        found = import_module(module)
        values = {name: getattr(found, name) for name in found.__all__ if not name.startswith("__")}
    classes = [name for name, value in values.items() if isinstance(value, type)]
    others = [name for name in values if name not in classes]
    lines = [_documented(module, name, values[name]) for names in (others, classes) for name in sorted(names)]
    return fenced("{eval-rst}", "\n".join(filter(None, lines)))


def _documented(module: str, name: str, value: Any) -> str:
    """Return the directive for a public name; "" for a module, which has a section of its own."""
    if isinstance(value, type):
        if issubclass(value, Exception):
            return f".. autoexception:: {module}.{name}\n   :members:\n"
        return f".. autoclass:: {module}.{name}\n   :members:\n   :undoc-members:\n   :exclude-members: count, index\n"
    if isinstance(value, ModuleType):
        if not callable(value):
            return ""
        function = getattr(import_module(f"{value.__name__}.library"), name)  # of the package, which can be called
        body = textwrap.indent(inspect.getdoc(function) or "", "   ")
        return f".. py:function:: {module}.{name}{inspect.signature(function)}\n\n{body}\n"
    if inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method":
        return f".. autofunction:: {module}.{name}\n"
    shown = repr(value).replace("typing.", "")  # an alias of a type, or a number
    return f".. py:data:: {module}.{name}\n\n   ``{shown}``\n"


# --- the build --------------------------------------------------------------------------------------------------------


def first_pages() -> str:
    """Return the pages about installation that the repository has."""
    return "\n".join(name for name in ("installing", "platforms") if (DOCS / f"{name}.md").exists())


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line of absolve in a folder."""
    argv = [sys.executable, "-m", "absolve", *shlex.split(command)[1:]]
    settings = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}
    return subprocess.run(argv, cwd=folder, env=settings, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603


def shown(command: str) -> str:
    """Return a block with a command and its output, run now in the folder of the repository."""
    done = run(command, ROOT)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return fenced("console", f"$ {command}\n{done.stdout}")


TEXTS: Final[dict[str, Callable[[], str]]] = {
    "first-pages": first_pages,
    "commands": commands,
    "links-columns": links_columns,
    "documents-columns": documents_columns,
    "audit-tables": audit_tables,
    "mirror-tables": mirror_tables,
    "problems": problems,
    "link-verdicts": link_verdicts,
    "url-verdicts": url_verdicts,
    "page-verdicts": page_verdicts,
    "rule-verdicts": rule_verdicts,
    "audit-site": audit_site,
    "diagnostics": diagnostics,
    "verify-codes": lambda: others("verify"),
    "browser-codes": lambda: others("browser"),
    "check-codes": lambda: others("check"),
    "note-codes": lambda: others("note"),
    "limits": limits,
    "races": races,
    "profiles": profiles,
    "divergences": divergences,
    "api": lambda: public("absolve"),
    "api-trees": lambda: public("absolve.trees"),
    "api-arrow": lambda: public("absolve.arrow"),
    "api-spark": lambda: public("absolve.spark"),
}
