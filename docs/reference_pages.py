"""Write the generated parts of the pages.

`python docs/reference_pages.py` does it, so that the pages can be read without building the site.
In: the parser, the tables of the code, and `codes.toml` and `columns.toml` (causes, examples, meanings). Out: in each
page, the text of TEXTS between `<!-- generated: NAME -->` and `<!-- end -->`. `docs/check_pages.py` checks that it is
up to date, and that nothing is left out.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import api_pages
from markdown_text import code, fenced, first_sentence, help_text, table

import absolve
from absolve.audit import tables, verdicts
from absolve.cli.commands import COMMANDS
from absolve.cli.option_table import ARGUMENTS, HELP
from absolve.cli.parsing import MOST, Parser, most_used, parser
from absolve.document.settings import CHOICES
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import MORE, Row
from absolve.inventory.documents import DocumentRow
from absolve.tables import FORMATS, OTHERWISE, Format
from absolve.urls import PROFILES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = Path(__file__).parent
_PART: Final = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


@cache
def read(name: str) -> dict[str, Any]:
    return tomllib.loads((DOCS / name).read_text("utf-8"))


# --- commands ---------------------------------------------------------------------------------------------------------


def command_page(name: str) -> str:
    """Return the page of a command: usage, examples, options (those that are used most first), notes, help."""
    os.environ["COLUMNS"] = "80"  # argparse wraps the usage to it
    command = parser((name,)).commands[name]
    examples, notes = _divided(command.epilog or "")
    arguments, *options, helping = _option_sections(command)
    parts = [
        f"# absolve {name}\n\n{command.description}\n",
        f"## Usage\n\n{fenced('text', command.format_usage().removeprefix('usage: '))}",
        f"## Examples\n\n{fenced('text', examples)}" if examples else "",
        _LEGEND if any(HARMLESS in section for section in options) else "",
        *(arguments, *options),
        f"## Notes\n\n{fenced('text', notes)}" if notes else "",
        helping,
    ]
    return "\n".join(filter(None, parts))


def _option_sections(command: Parser) -> list[str]:
    """Return the arguments of a command, its options used most, the others by groups, and those of the help."""
    groups = {group.title: group._group_actions for group in command.groups()}  # noqa: SLF001
    arguments, helping = groups.pop(ARGUMENTS, []), groups.pop(HELP, [])
    most = most_used(command) if len(command.all_options()) > MOST else []
    found = [_section(command, ARGUMENTS, arguments), _section(command, "most used options", most)]
    for title, actions in groups.items():
        found.append(_section(command, title or "", [action for action in actions if action not in most]))
    settings = [action for action, row in command.rows.items() if row.is_setting]
    return [*found, _section(command, "configuration file only", settings), _section(command, HELP, helping)]


HARMLESS: Final = "†"
_LEGEND: Final = f"""\
{HARMLESS} marks an option that any [configuration file](../../howto/configuration.md) may set. The others count
only in a file named with `--config`, because a file that absolve finds by itself may have come with a download.
"""


def _divided(notes: str) -> tuple[str, str]:
    """Return the examples of a command, and the rest of the text below its help."""
    before, _, found = notes.partition("examples:\n")
    examples, _, after = found.partition("\n\n")
    return textwrap.dedent(examples), "\n\n".join(filter(None, (before.strip(), after)))


def _section(command: Parser, title: str, actions: Iterable[argparse.Action]) -> str:
    """Return a section of arguments or options; "" for none."""
    shown = [described(command, action) for action in actions]
    return "\n".join([f"## {title[:1].upper()}{title[1:]}\n", *shown, ""]) if shown else ""


def described(command: Parser, action: argparse.Action) -> str:
    """Return the description of one argument or option, as an item of a list."""
    text = help_text(_expanded(command, action))
    value = "" if action.nargs == 0 else f" {_value(action)}"
    names = [f"`{name}{value}`" for name in action.option_strings] or [f"`{action.metavar or action.dest}`"]
    mark = f" {HARMLESS}" if action in command.rows and command.rows[action].is_harmless else ""
    return f"- {', '.join(names)}: {text[:1].upper()}{text[1:]}.{mark}"


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
    return table(("command", "task"), rows)


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


def _codes(names: Iterable[str], known: dict[str, Any]) -> str:
    """Return a table of codes, each with one sentence and a link to its section."""
    rows = [(f"[`{name}`](#{name})", first_sentence(known[name]["cause"])) for name in names]
    return table(("code", "meaning"), rows)


def problem_codes() -> str:
    return _codes(PROBLEMS, read("codes.toml")["problem"])


def diagnostic_codes() -> str:
    known = read("codes.toml")["diagnostic"]
    return _codes(sorted(known), known)


def verdict_codes() -> str:
    """Return a table of the verdicts for each kind of thing that is judged."""
    known = read("codes.toml")["verdict"]
    kinds = {"Links": verdicts.LINK_VERDICTS, "Old URLs": verdicts.URL_VERDICTS}
    kinds |= {"Rules": verdicts.RULE_VERDICTS, "Pages": verdicts.PAGE_VERDICTS}
    return "\n".join(f"**{title}**\n\n{_codes(names, known)}" for title, names in kinds.items())


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
    option = f", with `max-url = {known['max_url']}`" if "max_url" in known else ""
    target = code(row.target) if row.target is not None else "none"
    return f"{fenced('html', known['page'])}\n{where}{option}: target {target}, problems `{' '.join(row.problems)}`.\n"


def link_verdicts() -> str:
    """Return a section for each verdict of a link."""
    known = read("codes.toml")["verdict"]
    return _described(verdicts.LINK_VERDICTS, {name: _of_link(known[name]) for name in verdicts.LINK_VERDICTS})


def _of_link(known: dict[str, Any]) -> str:
    profile = f" (with `--profile {known['profile']}`)" if "profile" in known else ""
    return f"Example{profile}:\n\n{fenced('html', known['link'])}\n"


def url_verdicts() -> str:
    return _sections(verdicts.URL_VERDICTS)


def page_verdicts() -> str:
    return _sections(verdicts.PAGE_VERDICTS)


def rule_verdicts() -> str:
    return _sections(verdicts.RULE_VERDICTS)


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
    codes = sorted(read("codes.toml")["diagnostic"].items())
    with ThreadPoolExecutor() as pool:  # each run is a process
        return "\n".join(pool.map(_diagnostic, codes))


def _diagnostic(code: tuple[str, dict[str, Any]]) -> str:
    name, known = code
    example = f"{fenced('text', known['example'])}\n" if "example" in known else ""
    return f"## {name}\n\n{known['cause']}\n\n{example}{_of_run(known)}**To do:** {known['do']}\n"


def diagnostic_files(known: dict[str, Any]) -> dict[str, bytes]:
    """Return the input files of a diagnostic's example."""
    return {name: text.encode("latin-1") for name, text in known.get("files", {}).items()}


def _of_run(known: dict[str, Any]) -> str:
    if "run" not in known:
        return ""
    files = "".join(
        f"`{name}`:\n\n{fenced('text', text.decode('latin-1') if printable(text) else '(no text)')}\n"
        for name, text in diagnostic_files(known).items()
    )
    output = f"$ {known['run']}\n{printed(known)}"
    return f"{files}{fenced('shell-session', output)}\n"


def printable(text: bytes) -> bool:
    return text != b"" and all(byte in b"\r\n\t" or 32 <= byte < 127 for byte in text)


def printed(known: dict[str, Any]) -> str:
    """Return the standard error of a diagnostic's example, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        for name, data in diagnostic_files(known).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        done = run(known["run"], folder)
    lines = done.stderr.replace(f"{folder}/", "").splitlines()
    return "".join(f"{line}\n" for line in lines if not line.startswith("try:"))


def others(group: str) -> str:
    """Return a table of codes that have short descriptions only."""
    described = read("codes.toml")[group].items()
    rows = [(f"`{name}`", known["cause"], known["example"], known["do"]) for name, known in described]
    return table(("code", "cause", "example", "what to do"), rows)


# --- formats, limits, the rest ----------------------------------------------------------------------------------------


def table_formats() -> str:
    """Return the formats of tables, by the registry that writes them."""
    known = read("columns.toml")["formats"]
    named = {name: [f"`.{name}`"] if form.has_suffix else [f"`-f {name}`"] for name, form in FORMATS.items()}
    for suffix, name in OTHERWISE.items():
        named[name].append(f"`.{suffix}`")
    rows = [
        (" ".join(named[name]), known[name]["what"], _writers(form), known[name].get("needs", ""))
        for name, form in FORMATS.items()
    ]
    return table(("suffix", "format", "written by", "needs"), rows)


def _writers(form: Format) -> str:
    if form.source:
        return "`links`" if form.source == "links" else "`links`, `documents`"
    return "`links`, `documents`" if not form.has_suffix else "`links`, `documents`, `audit`"


def limits() -> str:
    """Return the limits, with the defaults of the code."""
    rows = []
    for name, meaning in read("columns.toml")["limits"].items():
        default = CHOICES[name]
        assert isinstance(default, int)
        rows.append((f"`{name.replace('_', '-')}`", f"`{name}`", amount(default), *meaning))
    return table(("setting", "argument", "default", "what is counted", "what stays unchanged beyond it"), rows)


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


# --- the pages --------------------------------------------------------------------------------------------------------


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line of absolve in a folder."""
    argv = [sys.executable, "-m", "absolve", *shlex.split(command)[1:]]
    settings = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}
    return subprocess.run(argv, cwd=folder, env=settings, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603


TEXTS: Final[dict[str, Callable[[], str]]] = {
    "commands": commands,
    "links-columns": links_columns,
    "documents-columns": documents_columns,
    "audit-tables": audit_tables,
    "mirror-tables": mirror_tables,
    "problems": problems,
    "problem-codes": problem_codes,
    "verdict-codes": verdict_codes,
    "diagnostic-codes": diagnostic_codes,
    "table-formats": table_formats,
    "link-verdicts": link_verdicts,
    "url-verdicts": url_verdicts,
    "page-verdicts": page_verdicts,
    "rule-verdicts": rule_verdicts,
    "audit-site": audit_site,
    "diagnostics": diagnostics,
    "verify-codes": lambda: others("verify"),
    "check-codes": lambda: others("check"),
    "note-codes": lambda: others("note"),
    "limits": limits,
    "profiles": profiles,
    "divergences": divergences,
    "api-functions": api_pages.functions,
    "api-options": api_pages.options,
    **{f"command-{name}": partial(command_page, name) for name in COMMANDS},
}


def updated(page: str) -> str:
    """Return a page with its generated parts as the code gives them now."""
    return _PART.sub(lambda found: f"{found[1]}\n{TEXTS[found[2]]().strip()}\n\n", page)


if __name__ == "__main__":
    for path in DOCS.rglob("*.md"):
        path.write_text(updated(path.read_text("utf-8")), "utf-8")
