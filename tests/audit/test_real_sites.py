"""Content matching on real documentation: pages renamed and edited, deleted, merged, swapped, under a new template."""

import random
import re
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from absolve.audit.matching import PageText, match
from absolve.audit.text_blocks import blocks

TAG = re.compile(rb"<[^>]*>")
BODY = re.compile(rb"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
HEADER = b"<header><a href=/>New Co</a><nav><ul><li>Products<li>Docs<li>Support</ul></nav></header>"
FOOTER = b"<footer>Copyright 2026 New Co. All rights reserved.</footer></body>"


class Plan(NamedTuple):
    """Both trees, and where the content of each changed page went: None for a deleted one."""

    old: dict[str, bytes]
    new: dict[str, bytes]
    renamed: dict[str, str]
    deleted: list[str]
    merged: dict[str, str]
    swapped: dict[str, str]


def edited(rng: random.Random, data: bytes, count: int) -> bytes:
    parts = re.split(rb"(<[^>]*>)", data)
    long = [place for place in range(0, len(parts), 2) if len(parts[place].split()) >= 6]
    for place in rng.sample(long, min(count, len(long))):
        words = parts[place].split(b" ")
        words[rng.randrange(len(words))] = rng.choice([b"river", b"lantern", b"pepper", b"copper"])
        parts[place] = b" ".join(words)
    return b"".join(parts)


def with_template(data: bytes) -> bytes:
    data = re.sub(rb"(<body[^>]*>)", rb"\1" + HEADER, data, count=1, flags=re.IGNORECASE)
    data = re.sub(rb"</body>", FOOTER, data, flags=re.IGNORECASE)
    return re.sub(rb"</title>", b" | New Co</title>", data, flags=re.IGNORECASE)


def planned(root: Path, seed: int) -> Plan:
    rng = random.Random(seed)  # noqa: S311 - the same plan each time
    files = (path for path in sorted(root.rglob("*.html")) if path.is_file())
    old = {str(path.relative_to(root)): path.read_bytes() for path in files}
    names = [name for name, data in old.items() if len(TAG.sub(b"", data).split()) >= 40]
    rng.shuffle(names)
    new = dict(old)
    renamed, deleted, merged, swapped = names[:50], names[50:70], names[70:80], names[90:100]
    plan = Plan(old, {}, {}, deleted, {}, {})
    for number, name in enumerate(renamed):
        data = new.pop(name)
        plan.renamed[name] = f"renamed/{number}.html"
        new[plan.renamed[name]] = edited(rng, data, rng.randrange(2 + len(TAG.sub(b"", data).split()) // 100))
    for name in deleted:
        del new[name]
    for name, host in zip(merged, names[80:90], strict=True):
        body = BODY.search(new[name])
        if body is None or not BODY.search(new[host]):
            continue  # pages of SQLite have no end tag of their body
        del new[name]
        new[host] = re.sub(rb"(?i)</body>", lambda _, text=body[1]: text + b"</body>", new[host], count=1)  # type: ignore[misc]  # a lambda with a default
        plan.merged[name] = host
    for one, other in zip(swapped[::2], swapped[1::2], strict=True):
        new[one], new[other] = old[other], old[one]
        plan.swapped.update({one: other, other: one})
    return plan._replace(new={name: with_template(data) for name, data in new.items()})


def texts(files: dict[str, bytes]) -> list[PageText]:
    found = []
    for name, data in files.items():
        title = re.search(rb"<title[^>]*>(.*?)</title>", data, re.DOTALL | re.IGNORECASE)
        found.append(PageText(name, sha256(data).hexdigest(), title[1].decode("utf-8", "replace") if title else None, blocks(data, "text/html", "utf-8")))
    return found


# Deleted pages whose text really is in another page, too: found by hand. `session.html` has all pages of its chapter in
# one, `changes.html` the release log of every version.
ELSEWHERE = {"doc/sqlite3/session.html", "doc/sqlite3/changes.html"}


@pytest.mark.parametrize("site", [
    "git-doc", pytest.param("sqlite3-doc", marks=pytest.mark.slow), pytest.param("cmake-doc", marks=pytest.mark.slow),
    pytest.param("postgresql-doc-15", marks=pytest.mark.slow),
])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_moved_pages_of_a_real_site_are_found_and_none_is_found_wrongly(shared: Path, site: str, seed: int) -> None:
    plan = planned(shared / "sites" / site, seed)
    same = [(name, name) for name in plan.old if name in plan.new]
    matches, pairs = match(texts(plan.old), texts(plan.new), threshold=0.8, pairs=same)
    found = {one.old: one.new for one in matches}
    scores = {one.old: one.score for one in pairs}

    right = [name for name, new in plan.renamed.items() if found.get(name) == new]
    assert len(right) >= 49
    assert [name for name in plan.renamed if name in found and name not in right] == []
    assert {found[name] for name in plan.deleted if name in found} <= ELSEWHERE
    assert {name: found.get(name) for name in plan.merged} == plan.merged
    assert {name: found.get(name) for name in plan.swapped} == plan.swapped
    changed = {*plan.renamed, *plan.deleted, *plan.merged, *plan.swapped}
    assert [name for name in plan.old if name not in changed and found.get(name) != name] == []
    assert max(scores[name] for name in plan.swapped) < 0.5
    assert min(score for name, score in scores.items() if name not in changed) >= 0.8
