"""Find the part of a capture that a page leads to: what its links reach in some steps, with all that these pages show.

In: the plan of a mirror of the whole, and the URL of a page. Out: the URLs of the part. Each document is read once.
"""

from __future__ import annotations

from collections import defaultdict, deque
from math import inf
from typing import TYPE_CHECKING

from absolve.core.errors import FAULTS, DocumentError, UsageError
from absolve.mirror import task, write
from absolve.mirror.payloads import entity_of, is_walked
from absolve.mirror.policy import fetches
from absolve.rewriting import rewriter
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from absolve.document.resolved import Resolved
    from absolve.mirror.map import Working
    from absolve.mirror.payloads import Payload
    from absolve.mirror.task import Item, MirrorOptions

Links = dict[str, dict[str, bool]]  # by path: the paths to which a document leads, and whether that is a step


def reached(how: MirrorOptions, working: Working, start: str, depth: int | None) -> frozenset[str]:
    """Return the URLs that are held, or redirect to what is held, at most `depth` steps from a page.

    What a browser fetches for a page by itself is no step from it. Raise UsageError for a page that is not held.
    """
    kept = task.Kept(how)
    try:
        first = kept.lookup(normal(start) or start)
        if first is None:
            raise UsageError(f"--start {start}: the inputs hold no document of this URL")
        links: Links = {}
        for batch in write.batches(working, how.sources):
            for item, payload in task.contents(kept, batch):
                if payload is not None:
                    links[item.path] = _links(how, kept, item, payload)
        paths = _within(links, first.path, inf if depth is None else depth)
        query = "SELECT url FROM plan WHERE path IS NOT NULL OR redirect IS NOT NULL"
        found = ((url, kept.lookup(url)) for (url,) in working.rows(query))
        return frozenset(url for url, target in found if target is not None and target.path in paths)
    finally:
        kept.lookup.close()


def _links(how: MirrorOptions, kept: task.Kept, item: Item, payload: Payload) -> dict[str, bool]:
    """Return the paths to which a document leads, and whether that is a step; none for one that cannot be read."""
    found: dict[str, bool] = defaultdict(lambda: True)

    def seen(resolved: Resolved) -> None:  # `policy` belongs to the document
        policy.seen.reached.clear()
        policy(resolved)
        for path in policy.seen.reached:
            found[path] = found[path] and not fetches(resolved)

    try:
        entity = entity_of(payload, item.url, how.reading.settings, item.fields)
        if entity is not None and is_walked(entity.media_type):
            policy = task.policy_of(how, kept, item, payload, entity)
            rewriter.edits(entity, seen)
    except (DocumentError, *FAULTS):  # reported when it is made
        pass
    return found


def _within(links: Links, first: str, depth: float) -> set[str]:
    """Return the paths that are at most `depth` steps away."""
    distance = {first: 0}
    waiting = deque([first])
    while waiting:
        path = waiting.popleft()
        for target, is_step in links.get(path, {}).items():
            far = distance[path] + is_step
            if far <= depth and far < distance.get(target, inf):
                distance[target] = far
                (waiting.append if is_step else waiting.appendleft)(target)
    return set(distance)
