"""Verification of JSON rewrites by Python's json."""

import random

import pytest

import absolve

URL = "http://h.example/d/m.json"
MANIFEST = b"""{"name": "x.html", "start_url": " ../?a=1 ", "display": "standalone", "n": [1, 1.5, true, null],
  "icons": [{"src": "a\\/b.png", "sizes": "1x1"}, {"src": "http://h.example/c.png"}],
  "share_target": {"action": "s", "s": "s"}}
"""


def codes(before: bytes, after: bytes, media_type: str = "application/manifest+json") -> set[str]:
    return {diagnostic.code for diagnostic in absolve.verify(before, after, media_type=media_type, url=URL, json_ld=True)}


def test_verify_accepts_a_correct_rewrite_of_json() -> None:
    after = absolve.rewrite(MANIFEST, media_type="application/manifest+json", url=URL)
    assert after.count(b"http://h.example/") == 4
    assert codes(MANIFEST, after) == set()


@pytest.mark.parametrize(("old", "new", "code"), [
    (b'"x.html"', b'"http://h.example/d/x.html"', "target"),
    (b'"name"', b'"Name"', "tree"),
    (b'"s": "s"', b'"s": "t"', "target"),
    (b"[1, ", b"[1.0, ", "tree"),
    (b"true", b"false", "tree"),
    (b", null", b"", "tree"),
    (b"{", b"", "unjudged"),
])
def test_verify_finds_any_other_change(old: bytes, new: bytes, code: str) -> None:
    after = absolve.rewrite(MANIFEST, media_type="application/manifest+json", url=URL)
    assert old in after
    differences = absolve.verify(MANIFEST, after.replace(old, new, 1), media_type="application/manifest+json", url=URL)
    assert code in {one.code for one in differences if one.text.startswith("json")}


def test_verify_finds_each_of_100_corruptions() -> None:
    after = absolve.rewrite(MANIFEST, media_type="application/manifest+json", url=URL)
    missed = []
    for seed in range(100):
        dice = random.Random(seed)  # noqa: S311 - a fixed seed
        at = dice.randrange(len(after))
        bad = after[:at] + dice.choice([b"", bytes([dice.randrange(256)]), b'"', b"x/"]) + after[at + 1 :]
        if bad != after and not codes(MANIFEST, bad):
            missed.append(bad)
    assert missed == []
