"""Read tables of cases: documents, and what the library makes of them.

A table is named by the sentence that its rows prove. A row is a document, or a list of it and what is expected; a last
item in braces is what differs in this row. `rows` are one list, every other key holds for all rows, and a key at the
top of the file for all tables:

- options of the library: url, name, media_type, charset, profile, base, and so on; a list of profiles or media types
  means that the row holds for each of them, and an empty text that there is none;
- `around`: the text around each document, `{}` where it is;
- `encoded`: the codec of the document, UTF-8 if it is missing; `text = true` for a document that is given as text;
- `reported`: what is reported, as `code line:column`, with `!` for what cannot be read;
- `new`: the URL that a policy returns for each link; `remap`: pairs of old and new prefixes, with `mentions = true` outside links, too; `form`: the form of links
  within a site, with `root` and `path`.

In a document `§` is where a rewrite puts the folder of `url` (or `site`), `‹old→new›` is what it changes, `‹E9 FF›` are
bytes, `‹D800›` is a code point, and `{NAME}` a text that the top of the file has under this name.
"""  # noqa: RUF002 - these marks are in no document

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import absolve
from absolve.rewriting.forms import Form
from absolve.rewriting.policy import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve import Diagnostic

CHANGE = re.compile("‹([^‹›]*)→([^‹›]*)›")
NUMBERS = re.compile("‹([0-9A-F ]+)›")
KEYS = frozenset("rows around encoded text reported site new remap mentions form root path columns of last stays proved otherwise".split())


class Case(NamedTuple):
    """The texts of a row, the keys of the row and its table, the document, and the options for the library."""

    texts: list[str]
    keys: dict[str, Any]
    document: Any
    options: dict[str, Any]


def tables(name: str) -> dict[str, Any]:
    """Return the tables of a file by their sentences, each with the keys at the top of the file."""
    found = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))
    common = {key: value for key, value in found.items() if not isinstance(value, dict)}
    return {key: common | table for key, table in found.items() if isinstance(table, dict)}


def cases(table: dict[str, Any]) -> Iterator[Case]:
    for row in table["rows"]:
        cells = [row] if isinstance(row, str) else row
        all_keys = {**table, **(cells[-1] if isinstance(cells[-1], dict) else {})}
        texts = [cell for cell in cells if isinstance(cell, str)]
        several = [name for name, value in all_keys.items() if name in {"profile", "media_type"} and isinstance(value, list)]
        for values in product(*(all_keys[name] for name in several)):
            keys = all_keys | dict(zip(several, values, strict=True))
            options = {name: value for name, value in keys.items() if name not in KEYS and name.islower() and value != ""}
            yield Case(texts, keys, spelled(texts[0], keys), {**options, **policy(keys)})


def spelled(text: str, keys: dict[str, Any], *, after: bool = False) -> Any:
    """Return the text of a row as the document before or after a rewrite."""
    text = keys.get("around", "{}").replace("{}", text)
    for name in filter(str.isupper, keys):
        text = text.replace(f"{{{name}}}", keys[name])
    text = CHANGE.sub(r"\2" if after else r"\1", text.replace("§", site(keys) if after else ""))
    if keys.get("text"):
        return NUMBERS.sub(lambda found: chr(int(found[1], 16)), text)
    pieces = enumerate(NUMBERS.split(text))
    return b"".join(bytes.fromhex(piece) if number % 2 else piece.encode(keys.get("encoded", "utf-8")) for number, piece in pieces)


def site(keys: dict[str, Any]) -> str:
    folder: str = keys.get("url", "").rpartition("/")[0] + "/"
    return str(keys.get("site", folder))


def policy(keys: dict[str, Any]) -> dict[str, Any]:
    if "new" in keys:
        return {"policy": lambda _: keys["new"]}
    if "remap" in keys:
        return {"policy": absolve.remap(keys["remap"], mentions=keys.get("mentions", False))}
    if "form" in keys:
        return {"policy": Form(absolute, keys["form"], keys.get("root", ""), keys.get("path"))}
    return {}


def line(found: Diagnostic) -> str:
    """Return a diagnostic as `reported` has it."""
    place = "" if found.line is None else f" {found.line}" if found.column is None else f" {found.line}:{found.column}"
    return f"{found.code}{place}{'!' if found.failed else ''}"
