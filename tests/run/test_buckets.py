"""Stores: any file system of fsspec would do; whether two URLs overlap."""

from pathlib import Path

import pytest

from absolve.run import buckets, plan


@pytest.mark.parametrize(("one", "other", "expected"), [
    ("s3://b/a", "s3://b/a", True),
    ("s3://b/a/", "s3://b/a/c/", True),
    ("s3://b/a", "s3://b/ab", False),
    ("s3://b/a/", "gs://b/a/", False),
    ("/b/a", "/b/a", False),
])
def test_two_urls_overlap_if_one_is_a_prefix_of_whole_steps(one: str, other: str, expected: bool) -> None:
    assert plan.overlap(one, other) is plan.overlap(other, one) is expected


def test_any_file_system_of_fsspec_is_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setitem(buckets.SCHEMES, "memory", "fsspec")
    buckets.is_many.cache_clear()
    (tmp_path / "x").write_bytes(b"x" * 999)
    for key in ("a/x.html", "a/b/y.html", "c.html"):
        buckets.send(tmp_path / "x", f"memory://bucket/{key}")
    assert [place for _, place, _ in buckets.found("memory://bucket/")] == ["a/b/y.html", "a/x.html", "c.html"]
    assert [url for url, _, _ in buckets.found("memory://bucket/*/*.html")] == ["memory://bucket/a/x.html"]
    assert buckets.is_many("memory://bucket/a")
    assert buckets.contents("memory://bucket/c.html", 999) == b"x" * 999
    assert buckets.contents("memory://bucket/c.html", 998) is None
    state = buckets.state("memory://bucket/c.html")
    assert state is not None
    assert state.size == 999
    assert buckets.state("memory://bucket/none") is None
