"""The same row for --remap and for --map: where both move a URL alike, and where they differ, and why (R12)."""

from pathlib import Path

import pytest
from moving import lead, rules

from absolve.rewriting import remap_tables
from absolve.rewriting.remap import Remapping
from absolve.rules import forms

OLD, NEW = "http://old.example", "https://new.example"


def both(rows: str, url: str) -> tuple[str | int | None, str | int | None]:
    """Return where a link leads by the rows as --remap and as --map: a path of the new site."""
    made = Remapping(remap_tables.rules("m.csv", rows.encode(), f"{OLD}/").values())(url)
    return made.removeprefix(NEW) if made is not None else None, lead(rules(rows, "m.csv"), url)


@pytest.mark.parametrize(("row", "url", "new"), [
    (f"{OLD}/a,{NEW}/b,exact", "http://OLD.example/a", "/b"), (f"{OLD}/a,{NEW}/b,exact", "http://old.example:80/a", "/b"),
    (f"{OLD}/a,{NEW}/b,exact", f"{OLD}/A", None), (f"{OLD}/a,{NEW}/b,exact", f"{OLD}/a/", None), (f"{OLD}/a/,{NEW}/b,exact", f"{OLD}/a", None),
    (f"{OLD}/a,{NEW}/b,exact", f"{OLD}/%61#f", "/b#f"), (f"{OLD}/a%2Fb,{NEW}/b,exact", f"{OLD}/a/b", None),
    (f"{OLD}/a?id=1,{NEW}/b,exact", f"{OLD}/a?id=1", "/b"), (f"{OLD}/a?id=1,{NEW}/b,exact", f"{OLD}/a?id=2", None),
    (f"{OLD}/docs,{NEW}/d,prefix", f"{OLD}/docs/x?q", "/d/x?q"), (f"{OLD}/docs,{NEW}/d,prefix", f"{OLD}/docsy", None),
    (f"{OLD}/docs/,{NEW}/d,prefix", f"{OLD}/docs/x", "/d/x"), (f"{OLD}/docs,{NEW}/d/,prefix", f"{OLD}/docs/x", "/d/x"),
    (f"{OLD}/docs/,{NEW}/d,prefix", f"{OLD}/docs", None), (f"{OLD}/(a|b),{NEW}/\\1x,regex", f"{OLD}/b", "/bx"),
    (f"{OLD}/a,{NEW}/b,exact\n{OLD}/a,{NEW}/c,exact", f"{OLD}/a", "/b"),
])
def test_a_row_moves_a_link_and_a_request_alike(row: str, url: str, new: str | None) -> None:
    assert both(row, url) == (new, new)


@pytest.mark.parametrize(("rows", "url", "remapped", "mapped"), [
    # A link names one scheme and user; an audit asks which host it names, and a server sees no more of it.
    (f"{OLD}/a,{NEW}/b,exact", "http://old.example:443/a", None, "/b"),
    (f"{OLD}/a,{NEW}/b,exact", "https://old.example/a", None, "/b"),
    (f"{OLD}/a,{NEW}/b,exact", "http://user@old.example/a", None, "/b"),
    # A rewrite moves one exact URL; servers look for the path, and keep the query.
    (f"{OLD}/a,{NEW}/b,exact", f"{OLD}/a?x=1", None, "/b?x=1"),
    # A rewrite takes the most special rule: rows have no order for whoever writes them. Servers take the first.
    (f"{OLD}/d,{NEW}/x,prefix\n{OLD}/d/e,{NEW}/y,prefix", f"{OLD}/d/e/f", "/y/f", "/x/e/f"),
    (f"{OLD}/d,{NEW}/x,prefix\n{OLD}/d/e,{NEW}/y,exact", f"{OLD}/d/e", "/y", "/x/e"),
    # A rewrite keeps the spelling of the rest, and the new URL as it is written where there is no rest; servers append
    # the decoded rest of the path, which may be empty.
    (f"{OLD}/d,{NEW}/x,prefix", f"{OLD}/d/%7Ee", "/x/%7Ee", "/x/~e"),
    (f"{OLD}/d,{NEW}/x/,prefix", f"{OLD}/d", "/x/", "/x"),
    (f"{OLD}/d/,{NEW}/x,prefix", f"{OLD}/d/", "/x", "/x/"),
])
def test_a_row_moves_a_link_and_a_request_in_two_ways(rows: str, url: str, remapped: str | None, mapped: str) -> None:
    assert both(rows, url) == (remapped, mapped)


@pytest.mark.parametrize(("text", "count"), [("x\u202ey", 1), ("x\u200by", 1), ("x\x85y", 1), ("x\u2066", 1), ("é/日本", 0), ("می\u200cشود", 0), ("❤\ufe0f", 0)])
def test_a_new_url_with_a_character_that_nobody_sees_is_named_in_a_table_and_in_a_map(text: str, count: int) -> None:
    data = f"http://old.example/,http://new.example/{text}/\n".encode()
    found = [*Remapping([*remap_tables.rules("m.csv", data, None).values()]).findings()]
    found += forms.doubts(forms.read(Path("m.csv"), data))
    assert [one.code for one in found] == ["invisible-character"] * 2 * count
