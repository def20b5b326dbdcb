#!/usr/bin/env python3
"""Make pictures of what commands print: terminals of 80 and 40 columns, light and dark, TERM=dumb, and a pipe.

Usage: .ci/terminal_pictures.py FOLDER [--png]. Each command runs in a pseudo terminal of that width; rich draws the
result as SVG. --png converts the pictures with Chromium, to look at them. Needs a system with pseudo terminals.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
COMMANDS: Final = {
    "links": ("links", "fixtures/saved-page.html", "fixtures/default.html", "fixtures/encapsulating.html"),
    "columns": ("links", "fixtures", "--columns", "target,kind,problems", "--unique", "--count"),
    "documents": ("documents", "fixtures", "--columns", "document,url,links,title"),
    "base": ("base", "fixtures/saved-page.html", "fixtures/journal.warc"),
    "rewrite": ("rewrite", "fixtures/saved-page.html", "-o", "{scratch}/absolute.html"),
    "dry-run": ("rewrite", "fixtures", "--dry-run"),
    "diff": ("rewrite", "fixtures/retrieval.html", "--diff"),
    "audit": (
        *("audit", "examples/move/new", "--url", "https://bay.example/", "--old", "examples/move/old"),
        *("--old-url", "http://old.bay.example/", "--map", "examples/move/redirects.csv"),
    ),
    "failures": ("links", "fixtures/default.html", "no.html", "--fail-on", "any", "--columns", "reference,problems"),
}
THEMES: Final = {"dark": SVG_EXPORT_THEME, "light": DEFAULT_TERMINAL_THEME}


class Terminal(NamedTuple):
    """How a command is run: columns, the value of TERM, and whether its output goes to a pipe."""

    columns: int
    term: str = "xterm-256color"
    piped: bool = False


TERMINALS: Final = {
    "80": Terminal(80),
    "40": Terminal(40),
    "dumb": Terminal(80, "dumb"),
    "pipe": Terminal(80, piped=True),
}


def output(arguments: tuple[str, ...], terminal: Terminal) -> bytes:
    """Return all that a command prints, as a terminal or a pipe gets it."""
    hidden = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"TERM": terminal.term, "ABSOLVE_CONFIG": "", "PYTHONUTF8": "1"}
    argv = [sys.executable, "-m", "absolve", *arguments]
    if terminal.piped:
        done = subprocess.run(
            argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return done.stdout + done.stderr
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, terminal.columns, 0, 0))
    process = subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while read := os.read(ours, 1 << 16):
            shown += read
    except OSError:  # Linux: the other end is closed
        pass
    os.close(ours)
    process.wait()
    return shown.replace(b"\r\n", b"\n")


def picture(shown: bytes, title: str, columns: int, theme: str) -> str:
    """Return a picture of the output as SVG, which loads nothing from elsewhere."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    text = Text.from_ansi(shown.decode("utf-8", "replace"))
    console.print(text, soft_wrap=False, overflow="fold", no_wrap=False)
    svg = console.export_svg(title=title, theme=THEMES[theme])
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--png", action="store_true", help="also convert them with Chromium")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if given.png and chromium is None:
        print("--png needs chromium", file=sys.stderr)
        return 2
    for name, command in COMMANDS.items():
        arguments = tuple(argument.format(scratch=given.folder) for argument in command)
        for kind, terminal in TERMINALS.items():
            shown = output(arguments, terminal)
            for theme in THEMES if kind.isdecimal() else ("dark",):
                path = given.folder / f"{name}-{kind}-{theme}.svg"
                title = f"absolve {' '.join(command[:2])}"[: terminal.columns - 12]
                path.write_text(picture(shown, title, terminal.columns, theme), "utf-8")
                print(path)
                if given.png and chromium is not None:
                    png(chromium, path)
    return 0


def png(chromium: str, path: Path) -> None:
    size = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', path.read_text("utf-8"))
    width, height = (int(float(number)) + 20 for number in size.groups()) if size else (1000, 1000)
    argv = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},{height}"]
    argv += [f"--screenshot={path.with_suffix('.png').resolve()}", path.resolve().as_uri()]
    subprocess.run(argv, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(main())
