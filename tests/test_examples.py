"""Every example runs on a fixture, and prints the expected output."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = "fixtures/saved-page.html"
RUNS = {
    "rewrite_page.py": ((PAGE,), b'<BASE href="http://example.com/journal/">'),
    "why.py": ((PAGE,), b"embedded: http://example.com/journal/ (base element, line 6)"),
    "own_policy.py": ((PAGE, "example.com", "new.example"), b'<BASE href="http://new.example/journal/">'),
    "broken.py": ((PAGE,), b"1 relative-base"),
    "asgi_middleware.py": ((), b'<a href="https://example.com/a/next">next</a>'),
    "lxml_trees.py": ((PAGE,), b"http://example.com/journal/photos/hook-head@2x.jpg"),
}
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.name != "spark_job.py"]  # it needs Spark: tests/spark


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_the_expected_output(example: Path) -> None:
    arguments, promised = RUNS[example.name]
    argv = [sys.executable, str(example), *arguments]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True)
    assert promised in done.stdout
