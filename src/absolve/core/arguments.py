"""Check and convert the arguments of the public API, and let packages be called.

In: values of any type, as callers pass them. Out: `bytes`, `str`, `bool` or `int`. A value with exactly one meaning is
accepted; any other raises TypeError with a hint at the right call.
"""

from __future__ import annotations

import operator
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Collection, Iterable, Mapping

_SHOWN: Final = 200  # most characters of a value quoted in an error

# Attribute of an unsuitable class -> hint how to get a document from its object; the first match counts.
_HINTS: Final = (
    ("is_text", "it is one already"),
    ("__fspath__", "pass path.read_bytes(), and name=path.name; walk_links(path) lists links of files and folders"),
    ("content", "pass absolve.document_of(response)"),
    ("read", "read the file first: pass what read() returns"),
    ("as_bytes", "pass its as_bytes()"),
    ("__iter__", "join its pieces, b''.join(pieces), or call this once for each document"),
)
_TREES: Final = ("lxml.", "bs4.", "xml.", "html5lib.")


def data_of(value: Any, call: str) -> bytes | str:
    """Return the content of a document as exact `bytes` or `str`; raise TypeError for anything else.

    `call` is the name of the public function, for the error.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(None))  # exact bytes, without the methods of a subclass
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{call} takes bytes, str or an absolve.Document, not {kind(value)}: {_hint(value)}") from None
    with view:
        if view.itemsize != 1 or view.ndim != 1:
            shape = f"of {view.ndim} dimensions, of items of {view.itemsize} bytes"
            raise TypeError(f"{call} takes bytes, not {kind(value)} {shape}: pass the bytes that are meant")
        return view.tobytes()


def _hint(value: object) -> str:
    if type(value).__module__.startswith(_TREES) or type(value).__module__ == "bs4":
        return "absolve.trees takes trees"
    for attribute, hint in _HINTS:
        if hasattr(type(value), attribute):
            return hint
    return "pass b'' for an empty document" if value is None else "pass the bytes of the document"


def text_of(value: Any, option: str) -> str:
    """Return the value of an option as exact `str`; raise TypeError unless it is a str or of a subclass."""
    if isinstance(value, str):
        return str.__str__(value)
    hint = f": decode it, e.g. {option}.decode('ascii')" if isinstance(value, (bytes, bytearray, memoryview)) else ""
    raise TypeError(f"{option} must be a str, not {kind(value)}{hint}")


def name_of(value: Any) -> str:
    """Return the name of a document as str: for example, `Path("a/b")` gives `a/b`; else raise TypeError."""
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, bytes):
        raise TypeError("name must be a str or a path, not bytes: decode it by os.fsdecode(name)")
    return text_of(value, "name")


def url_of(value: Any, option: str = "url") -> str:
    """Return the text of a URL, given as a str or a URL object; raise TypeError for anything else.

    A URL object (`core.protocols.URLObject`) has a `scheme` and a class that defines `__str__`, like httpx.URL and
    yarl.URL.
    """
    if is_url(value):
        return str.__str__(str(value))
    if isinstance(value, os.PathLike):
        raise TypeError(f"{option} must be a URL, not {kind(value)}: the URL of a file is path.absolute().as_uri()")
    if hasattr(type(value), "geturl"):
        raise TypeError(f"{option} must be a str, not {kind(value)}: pass {option}.geturl()")
    return text_of(value, option)


def is_url(value: Any) -> bool:
    """Return whether a value is a URL object and not a str."""
    own = any("__str__" in vars(kind) for kind in type(value).__mro__[:-1])  # without `object`, the last one
    return own and hasattr(value, "scheme") and not isinstance(value, (str, type))


def choices_of(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as values of their defaults' types; raise TypeError for any other type.

    A setting whose default has another type, such as None, is not checked.
    """
    return {name: _as_type_of(value, name, defaults[name]) for name, value in options.items()}


def _as_type_of(value: Any, option: str, default: Any) -> Any:
    """Return a value as the type of the option's default: for example, numpy's 3 for the default 10 gives 3."""
    if isinstance(default, bool):  # before int, of which bool is a subclass
        if not isinstance(value, bool):
            raise TypeError(f"{option} must be True or False, not {_shown(value)}")
    elif isinstance(default, int):
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(f"{option} must be a whole number, not {_shown(value)}") from None
    elif isinstance(default, str):
        return text_of(value, option)
    return value


def flag_of(value: Any, option: str) -> bool:
    """Return the value of an option that is True or False; raise TypeError for anything else."""
    return bool(_as_type_of(value, option, False))


def check_notify(value: Any) -> None:
    """Raise TypeError unless `on_diagnostic` is callable, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"on_diagnostic must be a function that takes a Diagnostic, or None, not {kind(value)}")


def check_policy(value: Any) -> None:
    """Raise TypeError unless the policy is callable."""
    if not callable(value):
        raise TypeError(f"policy must be a function that takes a link, or None, not {kind(value)}")


def target_of(value: Any, link: str) -> str:
    """Return the str that a policy returned for a link; raise TypeError, naming the link, for any other type."""
    if isinstance(value, str):
        return str.__str__(value)
    hint = ": return str(url)" if is_url(value) else ""
    raise TypeError(f"a policy returns a str or None, not {kind(value)}, as this one did for {link}{hint}")


def check_options(options: Iterable[str], known: Iterable[str], call: str, named: Iterable[str] = ()) -> None:
    """Raise TypeError for the first option that is not in `known`, with the most similar name as a hint.

    `named` are the function's own parameters, candidates for the hint only.
    """
    known = set(known)
    for option in options:
        if option not in known:
            from difflib import get_close_matches  # needed for this error only

            options = sorted(known.union(named))
            near = get_close_matches(option, options, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(options)}"
            raise TypeError(f"{call} has no option {_shown(option)}: {_meant(option, options) or hint}")


_OF_LISTS: Final = frozenset({"kind", "scope", "problem"})
# Other names -> the option that is meant; a guess by letters would give another one.
_MEANT: Final = {
    **dict.fromkeys("base_url baseurl base_uri baseuri base_href uri page_url source_url retrieval_url".split(), "url"),
    **dict.fromkeys("encoding from_encoding".split(), "charset"),
    **dict.fromkeys("content_type mime_type mimetype mime type".split(), "media_type"),
    **dict.fromkeys("map redirects redirect_map".split(), "maps"),
    **dict.fromkeys("out out_dir output_dir folder directory dest".split(), "output"),
}


def _meant(option: str, known: Collection[str]) -> str:
    """Return a hint for an option that has another name, or belongs to other functions; empty for others."""
    if option in _OF_LISTS:
        return "filter the rows, or call absolve.walk_links, absolve.rewrite_file or absolve.only, which have it"
    meant = _MEANT.get(option.lower().replace("-", "_"))
    return f"it is {meant}=" if meant in known else ""


def surplus(value: object, call: str) -> TypeError:
    """Return the error for a second value without a name; one that is a URL is named."""
    is_text = isinstance(value, str) and ":" in value
    hint = f"the URL of the document is url={_shown(value)}" if is_text or is_url(value) else "options have names"
    return TypeError(f"{call} takes one value without a name, the document, and not {_shown(value)}: {hint}")


def _shown(value: object) -> str:
    return repr(value)[:_SHOWN]


def kind(value: object) -> str:
    """Return the qualified name of an object's class: for example, `int` for 1, or `pathlib.PosixPath`."""
    found = type(value)
    if value is None or found.__module__ == "builtins":
        return "None" if value is None else found.__qualname__
    return f"{found.__module__}.{found.__qualname__}"


# --- packages that can be called --------------------------------------------------------------------------------------


def make_callable(name: str) -> None:
    """Let a package be called as the function of its name in its module `library`: `absolve.mirror(...)`.

    `help` and editors show the docstring and the signature of the function.
    """
    sys.modules[name].__class__ = _Package


class _Package(ModuleType):
    @property
    def _function(self) -> Callable[..., Any]:
        name = self.__name__
        function: Callable[..., Any] = getattr(import_module(f"{name}.library"), name.rpartition(".")[2])
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect

        return inspect.signature(self._function)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        import inspect

        first, _, rest = (inspect.getdoc(self._function) or "").partition("\n\n")
        return f"{first}\n\n{self.__name__}{self.__signature__}\n\n{rest}"

    def __call__(self, *values: Any, **options: Any) -> Any:
        return self._function(*values, **options)
