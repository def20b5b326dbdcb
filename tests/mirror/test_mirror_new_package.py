"""A container that is added as CONTRIBUTING shows: mirror, verify and audit read it without a word about it."""

import subprocess
import sys
from pathlib import Path

from packed import asked, tree

# Each member is its path and its content, with a null byte behind each. The rows are those that CONTRIBUTING names.
PILE = """
import sys
from absolve.formats import registry
from absolve.formats import sniffing

registry.PACKAGES += ("application/x-pile",)
registry.WALKERS["application/x-pile"] = registry.Format("pile", "walk", "none", (".pile",), archive=True)
registry.SUFFIXES[".pile"] = "application/x-pile"

def walk(data, charset, options):
    from absolve.core.model import PACKAGE_ROOT, BaseClaim, Layer, MessageIds, Part
    from absolve.encodings.codings import IDENTITY

    yield BaseClaim(Layer.RETRIEVAL, PACKAGE_ROOT, "root of the package")
    fields = data.split(b"\\0")[:-1]
    paths = [path.decode() for path in fields[::2]]
    yield MessageIds(paths)
    start = 0
    for path, content in zip(paths, fields[1::2]):
        start += len(path) + 1
        kind = sniffing.recognised(content, path)
        if kind or options.documents:
            base = BaseClaim(Layer.RETRIEVAL, path, "path in the package")
            yield Part(kind or "", start, start + len(content), IDENTITY, path, base, own_charset=True, encloses=False)
        start += len(content) + 1

if __name__ == "__main__":
    sys.modules["pile"] = sys.modules["__main__"]
    from absolve.cli import main

    for arguments in sys.argv[1:]:
        print(main(arguments.split()))
"""
SITE = (
    b"index.html\0<title>A</title><a href=b/page.html>b</a><a href=/gone.html>x</a><img src=i.png>\0"
    b"b/page.html\0<a href=../index.html>a</a><link rel=stylesheet href=../s.css>\0"
    b"s.css\0b{background:url(i.png)}\0i.png\0\x89PNG\r\n\x1a\n\0"
)


def test_a_package_that_is_no_zip_is_mirrored_verified_and_audited(tmp_path: Path) -> None:
    (tmp_path / "pile.py").write_text(PILE)
    (tmp_path / "a.pile").write_bytes(SITE)
    commands = (
        "mirror @a.pile -o @m", "mirror @a.pile -o @u --url http://h/x/",
        "rewrite @a.pile -o @out.pile --url http://h/x/", "verify @a.pile @out.pile --url http://h/x/", "audit @a.pile",
    )  # fmt: skip
    command = [sys.executable, str(tmp_path / "pile.py"), *(one.replace("@", f"{tmp_path}/") for one in commands)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if len(line) == 1] == ["0", "0", "0", "0", "1"], done.stderr
    assert "Missing: http://localhost/gone.html" in done.stdout
    names = ["b/page.html", "i.png", "index.html", "s.css"]
    assert sorted(tree(tmp_path / "m")) == [f"a.pile/{name}" for name in names]
    assert sorted(tree(tmp_path / "u")) == [f"h/x/{name}" for name in names]
    assert asked(tmp_path / "m", "SELECT count(*) FROM missing") == [(1,)]
    assert b"href=http://h/gone.html" in (tmp_path / "out.pile").read_bytes()
