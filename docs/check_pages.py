"""A linter of the documentation, the requirements and the licences: `python docs/check_pages.py` prints what is wrong.

Pages: links, files, tests and modules that they name exist; every code, column, option, type and session is described;
the generated parts are up to date. Requirements: pins have hashes, and are in the ranges of pyproject.toml.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import api_pages
import reference_pages
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import absolve
from absolve.audit import tables, verdicts
from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import parser
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import Row
from absolve.inventory.documents import DocumentRow
from absolve.mirror import check
from absolve.tables import FORMATS

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src/absolve"
FOLDERS: Final = ("*.md", "docs/**/*.md", "benchmarks/*.md", ".github/*.md")
PAGES: Final = {
    str(path.relative_to(ROOT)): path.read_text("utf-8") for folder in FOLDERS for path in sorted(ROOT.glob(folder))
}
DOCS: Final = {page: text for page, text in PAGES.items() if page.startswith("docs/") or page == "CONTRIBUTING.md"}
REPOSITORY: Final = (
    "absolve/absolve"  # until it is published under another name: change it here, and where this finds faults
)
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: Final[dict[str, list[str]]] = PROJECT["project"]["optional-dependencies"]
CODES: Final[dict[str, Any]] = reference_pages.read("codes.toml")
COLUMNS: Final[dict[str, Any]] = reference_pages.read("columns.toml")
OF_USERS: Final = {  # files of the users of absolve
    *(
        "absolve.toml",
        "datapackage.json",
        "datapackage-digest.json",
        "firebase.json",
        "netlify.toml",
        "staticwebapp.config.json",
        "vercel.json",
    ),
}
Faults = Iterator[str]


def differ(what: str, one: Iterable[Any], other: Iterable[Any]) -> Faults:
    if found := {*one} ^ {*other}:
        yield f"{what}: only on one side: {', '.join(map(str, sorted(found)))}"


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


# --- what pages name --------------------------------------------------------------------------------------------------


@cache
def defined(path: Path) -> frozenset[str]:
    """Return the names of a module's classes, functions and values, and of the attributes of its classes."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(names)


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: explicit ones, and those generated from headings."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="(\w+)">', page))


def links() -> Faults:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^ {4}.*$|`[^`]*`", "", text, flags=re.MULTILINE)):
            name, _, fragment = target.partition("#")
            path = (ROOT / page).parent / name if name else ROOT / page
            if "://" not in target and not (
                path.exists() and (not fragment or fragment in anchors(path.read_text("utf-8")))
            ):
                yield f"{page}: {target} leads nowhere"


def files() -> Faults:
    folders = (ROOT, SOURCE, SOURCE / "formats", ROOT / "tests/cases", ROOT / "tests/fuzz", ROOT / "tests/conformance")
    for page, text in PAGES.items():
        for name, function in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text):
            if not (ROOT / name).is_file() or (function and function not in defined(ROOT / name)):
                yield f"{page}: there is no {name} {function}"
    for page, text in DOCS.items():
        for name in set(re.findall(r"`([\w./-]*\w\.(?:py|md|json|toml|pxd))`", text)) - OF_USERS:
            if not any((folder / name).is_file() for folder in folders):
                yield f"{page}: there is no {name}"


def glossary() -> Faults:
    """Yield concepts, those with the case of code, that the named modules do not define."""
    for concepts, modules in re.findall(
        r"^\| ([^|]+) \| [^|]+ \| (`[^|]+`) \|$", PAGES["docs/glossary.md"], re.MULTILINE
    ):
        paths = [SOURCE / f"{module}.py" for module in re.findall(r"`([\w/]+)`", modules)]
        for concept in concepts.split(", "):
            if not all(path.is_file() for path in paths) or (
                concept[0].isupper() and not any(concept in defined(path) for path in paths)
            ):
                yield f"docs/glossary.md: {modules} do not define {concept}"


def versions() -> Faults:
    """Yield pages with another repository or version, and tools whose versions differ."""
    others = (
        "action.yml",
        ".pre-commit-hooks.yaml",
        "pyproject.toml",
        "Dockerfile",
        *(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/**/*.yml")),
    )
    for page in (*PAGES, *others):
        text = text_of(page)
        named = re.findall(r"(?:github\.com/|uses: |--repo )([\w-]+/absolve)\b(?:\.git)?(?:@(\S+))?", text)
        found = {revision for _, revision in named if revision} | set(re.findall(rf"{REPOSITORY}\n +rev: (\S+)", text))
        found |= {f"v{version}" for version in re.findall(r"\babsolve-(\d[\w.]*?)-py3", text)}
        if {name for name, _ in named} - {REPOSITORY} or found - {f"v{absolve.__version__}"}:
            yield f"{page}: {named} {found}, and this is {REPOSITORY} v{absolve.__version__}"
    pinned = re.findall(r"^ruff==([\d.]+)", text_of(".ci/requirements/dev.txt"), re.MULTILINE)
    yield from differ(
        "ruff",
        pinned,
        re.findall(r"ruff-pre-commit\n +rev: v([\d.]+)$", text_of(".pre-commit-config.yaml"), re.MULTILINE),
    )
    sessions = {
        node.name
        for node in ast.parse(text_of("noxfile.py")).body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }
    table = PAGES["CONTRIBUTING.md"].partition("| session |")[2].partition("\n\n")[0]
    yield from differ("sessions of nox", sessions, re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


# --- what pages describe ----------------------------------------------------------------------------------------------

MADE_OF: Final = {
    "Finding",
    "Diagnostic",
    "WalkError",
    "CodingError",
    "record_finding",
}  # their first argument is a code
SAID_ELSEWHERE: Final = {
    "verifying",
    "outputs",
    "verify.py",
    "check.py",
}  # codes of `verify` and `mirror --check`; findings of audits


def codes_of(path: Path) -> Iterator[str]:
    """Yield the codes that a module prints: first arguments of MADE_OF, and the faults of members."""
    tree = ast.parse(path.read_text("utf-8"))
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            given: ast.expr | None = node.args[0] if name in MADE_OF and node.args else None
            for keyword in node.keywords:
                if keyword.arg == "fault" and isinstance(keyword.value, ast.Tuple):
                    given = keyword.value.elts[0]
            value = given.value if isinstance(given, ast.Constant) else constants.get(getattr(given, "id", ""))
            if isinstance(value, str) and re.fullmatch(r"[a-z]+(?:-[a-z]+)*", value):
                yield value


def found_in(folder: str, pattern: str) -> set[str]:
    return {code for path in (SOURCE / folder).glob("*.py") for code in re.findall(pattern, path.read_text("utf-8"))}


def codes() -> Faults:
    yield from differ("problems", CODES["problem"], PROBLEMS)
    yield from differ("verdicts", CODES["verdict"], verdicts.VERDICTS)
    yield from differ("formats", COLUMNS["formats"], FORMATS)
    decision = PAGES["docs/decisions.md"].partition("**I2. ")[2]
    yield from differ("problems of decision I2", re.findall(r"`([a-z-]+)`", decision)[: len(PROBLEMS)], PROBLEMS)
    tolerated = re.search(r"these do not fail: ([\w\s,]+)\.", PAGES["docs/howto/ci.md"])
    yield from differ(
        "verdicts of docs/howto/ci.md",
        set(re.findall(r"\w+", tolerated[1] if tolerated else "")) - {"and"},
        verdicts.TOLERATED,
    )
    modules = [path for path in SOURCE.rglob("*.py") if not SAID_ELSEWHERE.intersection(path.parts)]
    texts = [path.read_text("utf-8") for path in SOURCE.rglob("*.py")]
    yield from (
        f"codes.toml describes {name}, which nothing prints"
        for name in CODES["diagnostic"]
        if not any(f'"{name}"' in text for text in texts)
    )
    printed = {code for path in modules for code in codes_of(path)}
    missing = (
        printed - CODES["diagnostic"].keys() if len(printed) > 60 else {"diagnostics: they are not found any more"}
    )
    missing |= (
        found_in("verifying", r'(?:_say|_differ|Diagnostic)\(\s*"([a-z-]+)"') - CODES["verify"].keys() - {"unreadable"}
    )
    missing |= found_in("mirror", r'(?:note\(resolved|Note\(entity, \S+), "([a-z-]+)"') - CODES["note"].keys()
    yield from (f"codes.toml lacks {code}" for code in sorted(missing))
    faults = {
        value
        for name, value in vars(check).items()
        if name[0] != "_" and name.isupper() and isinstance(value, str) and name not in {"MAP", "INDEX_PAGE", "SOURCES"}
    }
    yield from differ("faults of mirror --check", faults, CODES["check"])
    sections = re.split(r"^## (.+)$", PAGES["docs/reference/diagnostics.md"], flags=re.MULTILINE)
    examples = dict(zip(sections[1::2], sections[2::2], strict=True))
    yield from (
        f"the example of {name} does not print it"
        for name in CODES["diagnostic"]
        if f": {name}: " not in examples[name]
    )


def columns() -> Faults:
    yield from differ("columns of links", list(COLUMNS["links"])[: len(Row._fields)], Row._fields)
    yield from differ("columns of documents", COLUMNS["documents"], DocumentRow._fields)
    for name, found in tables.TABLES.items():
        if missing := found.keys() - COLUMNS["links"].keys() - COLUMNS["audit"][name].keys():
            yield f"columns.toml lacks {sorted(missing)} of {name}"
    source = text_of("src/absolve/mirror/map.py").partition("_PLAN")[0]
    for name, found in re.findall(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", source, re.DOTALL):
        yield from differ(
            f"columns of {name}", re.findall(r'"?(\w+)"? (?:TEXT|INTEGER)', found), COLUMNS["mirror"][name]
        )


def commands() -> Faults:
    for name in COMMANDS:
        page = reference_pages.command_page(name)
        for option in parser((name,)).commands[name].options():
            if not re.search(rf"^- `(.*--)?{option}\b", page, re.MULTILINE):
                yield f"the page of {name} lacks {option}"
        titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
        wanted = [title for title in ("Usage", "Examples", "Arguments", "Most used options") if title in titles]
        if titles[: len(wanted)] != wanted or titles[-1] != "Run and help":
            yield f"the page of {name} has its sections in another order: {titles}"


def types() -> Faults:
    values = [getattr(absolve, name) for name in absolve.__all__ if name not in {"arrow", "spark", "trees"}]
    functions = [value for value in values if api_pages.is_function(value) and not isinstance(value, ModuleType)]
    named = {word for function in functions for word in re.findall(r"\b[A-Z]\w+", api_pages.signature(function))}
    described = set(absolve.__all__) | set(re.findall(r":: (\w+)", "".join(api_pages.types_of_options({}))))
    builtin = {
        "Any",
        "Callable",
        "Iterable",
        "Iterator",
        "Literal",
        "Mapping",
        "Never",
        "None",
        "PathLike",
        "Sequence",
        "True",
        "False",
    }
    yield from (f"no page describes the type {name}" for name in sorted(named - described - builtin))


def generated() -> Faults:
    for page, text in PAGES.items():
        if page.startswith("docs/") and reference_pages.updated(text) != text:
            yield f"{page} is out of date: run python docs/reference_pages.py"
    inside = re.findall(
        r"^<!-- generated: (\S+) -->$",
        "".join(text for page, text in PAGES.items() if page.startswith("docs/")),
        re.MULTILINE,
    )
    yield from differ("generated texts", inside, reference_pages.TEXTS)


# --- requirements and licences ----------------------------------------------------------------------------------------

LOCKS: Final = {"test": ("test",), "dev": ("test", "dev"), "docs": ("docs",), "spark": ("spark",)}  # .ci/lock
PINNED: Final = re.compile(
    r"^([A-Za-z0-9._-]+)==([^ \\]+)(?: ; ([^\\]+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
NAMES_OF: Final = {  # of licences, as packages state them that are older than SPDX's expressions
    "MIT": {"MIT License"},
    "Apache-2.0": {"Apache Software License", "Apache License, Version 2.0", "Apache 2.0"},
    "BSD-2-Clause": {"BSD License"},
    "BSD-3-Clause": {"BSD License"},
}


def required(extras: tuple[str, ...]) -> dict[str, Requirement]:
    """Return the requirements of the project with these extras, by name; an extra may include others."""
    lines = list(PROJECT["project"]["dependencies"])
    wanted = list(extras)
    for extra in wanted:
        for line in EXTRAS[extra]:
            of_ours = Requirement(line).name == "absolve"
            (wanted if of_ours else lines).extend(sorted(Requirement(line).extras) if of_ours else [line])
    found: dict[str, Requirement] = {}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        if name in found:
            requirement.specifier &= found[name].specifier
        found[name] = requirement
    return found


def pins() -> Faults:
    locked: dict[str, dict[str, list[tuple[str, Marker | None]]]] = {}
    for lock, extras in LOCKS.items():
        text = text_of(f".ci/requirements/{lock}.txt")
        found = locked[lock] = {}
        for pin in PINNED.finditer(text):
            found.setdefault(pin[1], []).append((pin[2], Marker(pin[3]) if pin[3] else None))
        if sum(map(len, found.values())) != len(
            [line for line in text.splitlines() if not line.startswith((" ", "#"))]
        ):
            yield f"{lock}.txt has a line that is no version with a hash"
        if re.search(r"://|^ *-(?!-hash=).*|@ ", text, re.MULTILINE):
            yield f"{lock}.txt names a package index"
        for package, requirement in required(extras).items():
            for python in ("3.11", "3.12", "3.13", "3.14"):
                where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
                fitting = [
                    version for version, marker in found.get(package, []) if not marker or marker.evaluate(where)
                ]
                if len(fitting) != 1 or fitting[0] not in requirement.specifier:
                    yield f"{lock}.txt has {package} {fitting} for Python {python}, wanted {requirement}: run .ci/lock"
    for name, versions in locked["test"].items():
        yield from differ(
            f"{name} of test.txt and dev.txt", [one for one, _ in versions], [one for one, _ in locked["dev"][name]]
        )


def licences() -> Faults:
    rows = re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \| ([^|]+) \|$", text_of("THIRD_PARTY.md"), re.MULTILINE)
    listed = {package: (licence, purposes) for package, licence, purposes in rows if package != "package"}
    groups = {"build": PROJECT["build-system"]["requires"], "run": PROJECT["project"]["dependencies"], **EXTRAS}
    purposes: dict[str, list[str]] = {}
    for group, lines in groups.items():
        for name in {canonicalize_name(Requirement(line).name) for line in lines} - {"absolve"}:
            purposes.setdefault(name, []).append(group)
    yield from differ(
        "THIRD_PARTY.md",
        ((name, of) for name, (_, of) in listed.items()),
        ((name, ", ".join(of)) for name, of in purposes.items()),
    )
    for package, (licence, _) in listed.items():
        try:
            found = metadata.metadata(package)
        except metadata.PackageNotFoundError:
            continue
        stated = set(found.get_all("License-Expression") or found.get_all("License") or [])
        stated |= {line.rpartition(" :: ")[2] for line in found.get_all("Classifier") or [] if "License ::" in line}
        if not stated & {licence, *NAMES_OF.get(licence, ())}:
            yield f"THIRD_PARTY.md: {package} states {stated}"


CHECKS: Final[tuple[Callable[[], Faults], ...]] = (
    *(links, files, glossary, versions, codes, columns, commands, types, generated, pins, licences),
)


if __name__ == "__main__":
    sys.exit("\n".join(fault for check_ in CHECKS for fault in check_()) or 0)
