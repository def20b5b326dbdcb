"""Second check of shortcuts: Python's configparser and plistlib read equal values, except for links.

In: the two entities. Out: differences. A .url or .desktop file has sections of keys, a .webloc a dictionary.
"""

from __future__ import annotations

import plistlib
from configparser import Error, RawConfigParser
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

from absolve.formats import registry
from absolve.verifying.differences import Fault, shown
from absolve.verifying.meant import decoded
from absolve.verifying.plist import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the values."""
    read = _of_list if before.media_type == registry.WEBLOC else _of_sections
    try:
        old, new = read(before), read(after)
    except (Error, ExpatError, *UNREADABLE) as error:
        why = error if isinstance(error, (Error, ExpatError, ValueError)) else "a value in it is none of its type"
        yield Fault("unjudged", f"this shortcut cannot be read: {why}")
        return
    if list(old) != list(new):
        yield Fault("tree", "shortcut: the keys differ")
        return
    wanted = meant.by_reference()
    for key, one in old.items():
        is_meant = isinstance(one, str) and new[key] in wanted.get(one, ())
        if repr(new[key]) != repr(one) and not is_meant:  # NaN equals NaN
            yield Fault("target", f"shortcut: {key}: {shown(str(one))} became {shown(str(new[key]))}")


def _of_sections(entity: Entity) -> dict[str, Any]:
    parser = RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#", ";"), default_section="")
    parser.read_string(decoded(entity).removeprefix("\ufeff"))
    return {f"{name}/{key}": value for name in parser.sections() for key, value in parser[name].items()}


def _of_list(entity: Entity) -> dict[str, Any]:
    found = plistlib.loads(entity.data)
    return found if isinstance(found, dict) else {"": found}
