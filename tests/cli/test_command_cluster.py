"""`--engine`: incompatible options are rejected before any input is read."""

import sys
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.tables import FORMATS

STREAMS = " or ".join(name for name, form in FORMATS.items() if form.cluster)
MASTER = "--engine", "local[2]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.html", "--master", "local[2]"), "--engine spark://host:7077 names the cluster"),
        (("x.html", "--engine", "sprak"), "--engine takes local, spark or the URL of a Spark cluster, not 'sprak'"),
        (("x.html", "--jobs", "2", *MASTER), "--jobs needs --engine local"),
        (("-", "-o", "x.parquet", *MASTER), "cannot read the standard input (-)"),
        (("x.html", *MASTER), f"--engine spark writes {STREAMS}: give -o FOLDER"),
        (("x.html", "-o", "x.sqlite", *MASTER), f"--engine spark writes {STREAMS}: give -o FOLDER"),
    ],
)
def test_options_incompatible_with_an_engine_are_a_usage_error(
    absolve: Runner, arguments: tuple[str, ...], message: str
) -> None:
    done = absolve("links", *arguments)
    assert done.status == 2
    assert message in " ".join(done.err.split())


def test_without_pyspark_the_error_names_the_extra_to_install(
    absolve: Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "absolve.spark", raising=False)
    (tmp_path / "x.html").write_bytes(b"<a href=x>")
    done = absolve("links", str(tmp_path / "x.html"), "-o", str(tmp_path / "x.parquet"), *MASTER)
    assert done.status == 2
    assert "this needs pyspark and Java: pip install 'absolve[spark]'" in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
