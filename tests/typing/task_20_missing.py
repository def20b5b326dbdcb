"""Handle what is not there, and what is there and cannot be read."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve


def reason(path: Path) -> str:
    try:
        return f"{absolve.audit(path).links} links"
    except FileNotFoundError as error:
        return f"not there: {error.filename}"
    except absolve.AbsolveError as error:
        return f"not read: {error}"


with TemporaryDirectory() as folder:
    assert reason(Path(folder) / "none") == f"not there: {Path(folder) / 'none'}"
    Path(folder, "x.bin").write_bytes(b"\0")
    assert reason(Path(folder) / "x.bin").startswith("not read: ")
    Path(folder, "ok.html").write_text("<a href=http://h/>", "utf-8")
    assert reason(Path(folder) / "ok.html") == "1 links"
codes: list[str] = []
try:
    list(absolve.walk_links("none.html"))
except absolve.MissingFileError as error:
    codes.append(error.diagnostic.code)
assert codes == ["not-found"]
