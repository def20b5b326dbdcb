"""Run the hook of pre-commit and the steps of the GitHub action, with the absolve on the PATH.

Run it from the root. Exit status 1 if either does not find what is wrong in examples/move/new.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ARGUMENTS = "examples/move/new --url https://bay.example/"


def hook() -> bool:
    """Run the entry of the hook; return whether it fails by what it finds."""
    entry = re.search(r"^  entry: (.*)$", Path(".pre-commit-hooks.yaml").read_text("utf-8"), re.MULTILINE)
    command = [*shlex.split(entry[1] if entry else ""), *shlex.split(ARGUMENTS)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 1


def action(folder: Path) -> bool:
    """Run the last step of the action, for which the environment of this interpreter is that of its first step."""
    text = Path("action.yml").read_text("utf-8")
    script = text.rpartition("      run: |\n")[2].replace("\n        ", "\n").removeprefix("        ")
    (folder / "absolve").symlink_to(Path(sys.executable).parent.parent)
    variables = {
        "ARGUMENTS": ARGUMENTS,
        "REPORT": str(folder / "report.html"),
        "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "step-summary"),
    }
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],  # noqa: S607 - that of the PATH
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    has_found = done.returncode == 1 and "::error file=examples/move/new/" in done.stdout
    return has_found and (folder / "step-summary").is_file()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        found = {"the hook": hook(), "the action": action(Path(folder))}
    for name, is_right in found.items():
        print(f"{name}: {'finds what is wrong' if is_right else 'FAILED'}")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
