"""The relative path from a folder to a file, for relative references (RFC 3986 4.2).

In: two paths below the same root. Out: a path with `..` for each folder to leave. Nothing is escaped or unescaped.
"""

from __future__ import annotations


def relative_path(folder: str, path: str) -> str:
    """Return the path that leads from a folder to `path`; both begin below the root, without a slash.

    The root is "" as a folder. The result is "" where `path` is the folder with a slash at its end.
    """
    above = folder.split("/") if folder else []
    parts = path.split("/")
    same = 0
    while same < min(len(above), len(parts) - 1) and above[same] == parts[same]:
        same += 1
    return "../" * (len(above) - same) + "/".join(parts[same:])
