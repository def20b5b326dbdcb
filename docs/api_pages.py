"""The API reference: an autodoc directive for each public name, with the options of a function spelled out.

In: the name of a module. Out: Markdown. The options are those of the `TypedDict` that types `**options`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, get_args, is_typeddict

from markdown_text import code, fenced, help_text, table

from absolve.cli import option_table
from absolve.core import options as types
from absolve.core.protocols import Buffer, URLObject
from absolve.document.settings import CHOICES

if TYPE_CHECKING:
    from absolve.cli.option import Option

MOCKED: Final = ["pyspark"]  # the site is built without them
_UNPACKED: Final = re.compile(r"Unpack\[(\w+)\]")
_ALIASES: Final = {  # for type checkers only
    "Source": "str | bytes | Buffer | Document",
    "Path_": "str | os.PathLike[str]",
    "Response": "httpx.Response | requests.Response | scrapy.http.Response | http.client.HTTPResponse",
}
_PROTOCOLS: Final = (URLObject, Buffer)
WITH_MEANINGS: Final = {"Row": "links", "DocumentRow": "documents"}  # tuples -> tables of columns.toml
_OF_REWRITE: Final = "Unpack[Options]"  # of its overloads; the function itself takes Any


def public(module: str = "absolve") -> str:
    """Return an autodoc directive for each public name of a module, under headings if there are many."""
    from sphinx.ext.autodoc.mock import mock  # only a build needs it

    with mock(MOCKED):
        values = _public(module)
    parts = {
        "Functions": [_function(module, name, value) for name, value in values.items() if is_function(value)],
        "Classes": [_class(module, name, value) for name, value in values.items() if _is_class(value)],
        "Exceptions": [_exception(module, name) for name, value in values.items() if _is_exception(value)],
    }
    if module == "absolve":
        parts["Types"] = types_of_options(values)
        return "\n".join(f"### {title}\n\n{_directives(module, lines)}" for title, lines in parts.items())
    return _directives(module, [line for lines in parts.values() for line in lines])


def functions() -> str:
    """Return a table of the functions of absolve, each with its first sentence."""
    values = {name: value for name, value in _public("absolve").items() if is_function(value)}
    rows = [(f"`{name}`", _text(value).partition("\n\n")[0]) for name, value in values.items()]
    return table(("function", "task"), rows)


def options() -> str:
    """Return a table of the options that functions share, with the texts of the command's options."""
    known = {option.dest.removesuffix("_"): option for _, option in option_table.for_command("rewrite")}
    own = tomllib.loads((Path(__file__).parent / "columns.toml").read_text("utf-8"))["api"]
    rows = [
        (f"`{name}`", code(kind), code(default), own.get(name) or f"{help_text(_help(known[name]))}.")
        for name, kind, default in _options("Options")
    ]
    return table(("option", "type", "default", "meaning"), rows)


def _help(option: Option) -> str:
    text = option.help if isinstance(option.help, str) else option.help()
    text = text.partition(" (default: %")[0].replace("%%", "%")
    return text[:1].upper() + text[1:]


def _public(module: str) -> dict[str, Any]:
    """Return the public values of a module by name, without modules that have a section of their own."""
    found = import_module(module)
    names = (name for name in sorted(found.__all__) if name not in {"__version__", "arrow", "spark", "trees"})
    return {name: getattr(found, name) for name in names}


def _is_class(value: Any) -> bool:
    return isinstance(value, type) and not issubclass(value, Exception)


def _is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def is_function(value: Any) -> bool:
    is_compiled = type(value).__name__.startswith("cython_function")
    return is_compiled or isinstance(value, ModuleType) or inspect.isroutine(value)


def _directives(module: str, lines: list[str]) -> str:
    return fenced("{eval-rst}", "\n".join([f".. py:currentmodule:: {module}\n", *lines]))


def _function(module: str, name: str, value: Any) -> str:
    if isinstance(value, ModuleType):  # a package that can be called
        body = textwrap.indent(_text(value), "   ")
        return f".. py:function:: {name}{signature(_called(value))}\n\n{body}\n"
    return f".. autofunction:: {module}.{name}{signature(value)}\n"


def _called(value: Any) -> Any:
    if not isinstance(value, ModuleType):
        return value
    return getattr(import_module(f"{value.__name__}.library"), value.__name__.rpartition(".")[2])


def _text(value: Any) -> str:
    return inspect.getdoc(_called(value)) or ""


def _exception(module: str, name: str) -> str:
    return f".. autoexception:: {module}.{name}\n   :members:\n"


def _class(module: str, name: str, value: Any) -> str:
    """Return the directive of a class: fields of tuples are in its signature, options in those of the functions."""
    head = f".. autoclass:: {module}.{name}\n"
    if is_typeddict(value):
        return f"{head}   :no-members:\n"
    fields = getattr(value, "_fields", ())
    hidden = ", ".join(["count", "index", *(fields if name not in WITH_MEANINGS else ())])
    return f"{head}   :members:\n   :undoc-members:\n   :exclude-members: {hidden}\n"


def meaning(name: str) -> str:
    """Return the meaning of the field of a row, given as `absolve.Row.line`."""
    _, kind, field = name.rsplit(".", 2)
    columns = tomllib.loads((Path(__file__).parent / "columns.toml").read_text("utf-8"))
    return str(columns[WITH_MEANINGS[kind]][field])


def types_of_options(values: dict[str, Any]) -> list[str]:
    """Return the directives of the types in signatures: aliases, and protocols."""
    others = {name: value for name, value in values.items() if not isinstance(value, type)}
    aliases = {name: _plain(value) for name, value in others.items() if not is_function(value)}
    aliases |= {name: _plain(value) for name, value in vars(types).items() if get_args(value) and name[0].isupper()}
    aliases |= _ALIASES
    found = [f".. py:type:: {name}\n   :canonical: {aliases[name]}\n" for name in sorted(aliases)]
    return found + [f".. py:class:: {one.__name__}\n\n   {inspect.getdoc(one)}\n" for one in _PROTOCOLS]


def _plain(value: Any) -> str:
    return re.sub(r"\b(?:typing|collections\.abc|absolve(?:\.\w+)+)\.", "", repr(value))


def signature(function: Any) -> str:
    """Return a signature with each option as a keyword argument of its own."""
    given = inspect.signature(function)
    parts: list[str] = []
    for parameter in given.parameters.values():
        unpacked = _UNPACKED.search(_of_rewrite(function, parameter))
        has_star = any(part.startswith("*") for part in parts)
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            parts.append("*")
        if unpacked is None:
            parts.append(_shown(parameter))
        else:
            parts += [] if "*" in parts else ["*"]
            parts += [f"{name}: {kind} = {default}" for name, kind, default in _options(unpacked[1])]
    return f"({', '.join(parts)}) -> {given.return_annotation}".replace("Profiles", "Profile")


def _of_rewrite(function: Any, parameter: inspect.Parameter) -> str:
    """Return what a parameter is annotated with; for overloaded functions, by the overloads."""
    is_any = parameter.kind is parameter.VAR_KEYWORD and parameter.annotation == "Any"
    return _OF_REWRITE if is_any and function.__module__ == "absolve.api" else str(parameter.annotation)


def _shown(parameter: inspect.Parameter) -> str:
    star = "*" * ((parameter.kind is parameter.VAR_POSITIONAL) + 2 * (parameter.kind is parameter.VAR_KEYWORD))
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = parameter.default
    shown = "{}" if repr(default) == "mappingproxy({})" else repr(default)
    return f"{star}{parameter.name}{kind}" + ("" if default is parameter.empty else f" = {shown}")


def _options(name: str) -> list[tuple[str, str, str]]:
    """Return the options of a TypedDict with types, as they are written, and defaults: facts first, limits last."""
    limits = types.Limits.__annotations__
    annotations = getattr(types, name).__annotations__
    facts = annotations.keys() - types.Choices.__annotations__.keys()
    kinds = {option: str(getattr(kind, "__forward_arg__", kind)) for option, kind in annotations.items()}
    order = sorted(kinds, key=lambda option: (option in limits, option not in facts, option != "url"))
    defaults = _defaults("mirror" if name == "MirrorOptions" else "rewrite")
    found = [(option, kinds[option], repr(defaults.get(option))) for option in order]
    return [(option, _or_none(kind, default), default) for option, kind, default in found]


def _defaults(command: str) -> dict[str, object]:
    rows = option_table.for_command(command)
    known = {option.dest: False if option.is_switch else option.default for _, option in rows}
    return known | CHOICES | option_table.DEFAULTS.get(command, {})


def _or_none(kind: str, default: str) -> str:
    return kind if default != "None" or "None" in kind else f"{kind} | None"
