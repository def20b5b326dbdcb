"""Move a documentation tree to another host with planted faults, the same ones for the same seed.

In: a tree of pages. Out: two folders, old and new, a redirect map, and what was planted.
"""

import random
import re
import shutil
from pathlib import Path
from typing import NamedTuple

OLD = "http://old.example/"
NEW = "https://new.example/"
HEADER = b'<div id="new-header"><a href="index.html"></a>The new documentation, now with more navigation</div>'
FOOTER = b'<div id="new-footer">Made by another generator. All rights of the new footer are reserved.</div>'


class Planted(NamedTuple):
    """The faults of a moved tree; paths are relative to the root, with slashes."""

    renamed: dict[str, str]  # pages, old path -> new path
    folder: tuple[str, str]  # that was renamed, with final slashes
    deleted: list[str]
    anchors: list[tuple[str, str]]  # page, id that is another one now
    merged: dict[str, str]  # page whose content is in another one now
    swapped: dict[str, str]  # page whose content another one has now
    leftovers: list[str]  # pages with a link to the old host
    rules: dict[str, str]  # the right ones
    wrong: dict[str, str]  # rules that lead to nothing, in a circle, or to the wrong page


def pages_of(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.html"))


def moved(source: Path, old: Path, new: Path, *, folder: str, seed: int = 1808) -> Planted:
    """Copy a tree to `old`, and with planted faults to `new`; `folder` is renamed."""
    shutil.copytree(source, old)
    shutil.copytree(source, new)
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    texts = {page: (old / page).read_bytes() for page in pages_of(old)}
    large = [page for page, data in texts.items() if words(data) >= 60 and not page.startswith(folder) and "index" not in page]
    chance.shuffle(large)
    renamed = {page: f"{page.rpartition('/')[0]}/n{number}-{chance.getrandbits(32):x}.html".lstrip("/") for number, page in enumerate(take(large, 50))}
    deleted = take(large, 20)
    hosts = take(large, 10)
    merged = dict(zip(take(large, 10), hosts, strict=True))
    pair = take(large, 4)
    swapped = {pair[0]: pair[1], pair[1]: pair[0], pair[2]: pair[3], pair[3]: pair[2]}
    last = take(large, 3)
    swapped |= {last[0]: last[1], last[1]: last[2], last[2]: last[0]}
    leftovers = take(large, 25)
    anchors = changed_anchors(texts, set(large), chance)
    for page, target in merged.items():
        texts[target] = texts[target].replace(b"</body>", inner(texts[page]) + b"</body>")
    for page, other in swapped.items():
        texts[page] = (old / other).read_bytes()
    for page, anchor in anchors:
        texts[page] = texts[page].replace(f'id="{anchor}"'.encode(), f'id="other-{anchor}"'.encode()).replace(f'name="{anchor}"'.encode(), f'name="other-{anchor}"'.encode())
    for page in leftovers:
        texts[page] = texts[page].replace(b"</body>", b'<p><a href="http://old.example/%s">the old page</a></p></body>' % page.encode())
    for page, data in texts.items():
        path = new / page
        path.unlink()
        if page in deleted or page in merged:
            continue
        target = renamed.get(page, page)
        if target.startswith(folder):
            target = f"new-{target}"
        place = new / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(dressed(data))
    names = list(renamed)
    kept = chance.sample(large, 10)
    rules = {page: renamed[page] for page in names[:25]} | {f"very/old/{number}.html": page for number, page in enumerate(kept)}
    wrong = {
        deleted[0]: "nowhere/at-all.html",
        deleted[1]: "nowhere/else.html",
        deleted[2]: deleted[3],
        deleted[3]: deleted[2],
        names[25]: "nowhere/third.html",
    }
    return Planted(renamed, (folder, f"new-{folder}"), deleted, anchors, merged, swapped, leftovers, rules, wrong)


def take(pages: list[str], number: int) -> list[str]:
    taken, pages[:] = pages[:number], pages[number:]
    return taken


def words(data: bytes) -> int:
    return len(re.sub(rb"<[^>]*>", b" ", inner(data)).split())


def inner(data: bytes) -> bytes:
    """Return the part of a page that is its own: the body without what the template has around it."""
    found = re.search(rb'<div class="body" role="main">(.*?)<div class="clearer">', data, re.DOTALL) or re.search(rb"<body[^>]*>(.*)</body>", data, re.DOTALL)
    return found[1] if found else b""


def dressed(data: bytes) -> bytes:
    """Return a page in the new template."""
    data = re.sub(rb"(<body[^>]*>)", lambda found: found[1] + HEADER, data, count=1)
    data = re.sub(rb'<div class="footer".*?</div>', b"", data, flags=re.DOTALL)
    return data.replace(b"</body>", FOOTER + b"</body>")


def changed_anchors(texts: dict[str, bytes], among: set[str], chance: random.Random) -> list[tuple[str, str]]:
    """Return anchors of pages that other pages link to by name."""
    found = set()
    for page, data in texts.items():
        folder = page.rpartition("/")[0]
        for reference in re.findall(rb'href="([^"#:]+\.html)#([A-Za-z0-9_:-]+)"', data):
            target = normal(f"{folder}/{reference[0].decode()}")
            anchor = reference[1].decode()
            if target in among and target != page and f'id="{anchor}"'.encode() in texts[target]:
                found.add((target, anchor))
    return chance.sample(sorted(found), 30)


def normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)
