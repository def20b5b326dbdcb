"""A rewrite of old URLs outside links (`--mentions`): a WordPress export, a dump and CSV, judged by PHP."""

import base64
import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

import absolve
from tests.shapes import wordpress

FORWARD = absolve.remap({wordpress.URL: "https://new-site.example/blog"}, mentions=True)
BACK = absolve.remap({"https://new-site.example/blog": wordpress.URL}, mentions=True)
# Each line is a value; inside one, strings that are serialized are read, too.
READER = r"""
function inside($value) {
    if (is_string($value)) {
        if (!preg_match('/^(a|s|O):\d+:/', $value)) return strpos($value, 'old.example') === false || preg_match('/old\.example\.org/', $value);
        $found = @unserialize($value);
        return $found !== false && serialize($found) === $value && inside($found);
    }
    foreach ((array) $value as $one) if (!is_bool($one) && !is_int($one) && !inside($one)) return false;
    return true;
}
while (($line = fgets(STDIN)) !== false) echo inside(base64_decode($line)) ? "ok\n" : "not $line";
"""


def values_of_export(data: bytes) -> list[bytes]:
    found = re.findall(rb"<wp:meta_value><!\[CDATA\[(.*?)\]\]></wp:meta_value>", data, re.DOTALL)
    return [value.replace(b"]]]]><![CDATA[>", b"]]>") for value in found]


def values_of_dump(data: bytes) -> list[bytes]:
    found = re.findall(rb"'((?:[^'\\]|\\.)*)'", data, re.DOTALL)
    plain = {b"n": b"\n", b"r": b"\r"}
    return [re.sub(rb"\\(.)", lambda escape: plain.get(escape[1], escape[1]), value) for value in found]


MADE = [
    pytest.param(make, values, media_type, posts, id=f"{name}-{posts}", marks=[pytest.mark.slow] * (posts > 100))
    for posts in (10, 1000)
    for name, make, values, media_type in (
        ("export", wordpress.export, values_of_export, "text/xml"),
        ("dump", wordpress.dump, values_of_dump, "application/x.other"),
        ("table", wordpress.table, lambda data: [value.replace(b'""', b'"') for value in re.findall(rb'"((?:[^"]|"")*)"', data)], "application/x.other"),
    )
]
# A change that no rule makes, in the last place that has these bytes
PLANTED = [(b"lorem", b"lorem "), (b"new-site.example/blog", b"new-site.example/blag"), (b"s:5:", b"s:6:"), (b"\\/", b"/")]


@pytest.mark.parametrize(("make", "values", "media_type", "posts"), MADE)
def test_no_old_url_is_left_and_php_reads_every_value(
    make: Callable[[int], bytes], values: Callable[[bytes], list[bytes]], media_type: str, posts: int
) -> None:
    old = make(posts)
    new = absolve.rewrite(old, policy=FORWARD, media_type=media_type)
    assert b"old.example" not in wordpress.LEFT.sub(b"", new)
    assert wordpress.LEFT.findall(new) == wordpress.LEFT.findall(old)
    assert absolve.rewrite(new, policy=BACK, media_type=media_type) == old
    assert absolve.verify(old, new, policy=FORWARD, media_type=media_type) == []
    length = b"s:%b:" % re.findall(rb"s:([0-9]{3}):", new)[-1]
    for one, other in [*PLANTED, (length, b"s:%d:" % (int(length[2:-1]) + 1))] if posts < 100 else ():
        assert absolve.verify(old, other.join(new.rsplit(one, 1)), policy=FORWARD, media_type=media_type), one
    assert len(values(new)) == len(values(old)) == 6 * posts
    if (php := shutil.which("php")) is None:
        pytest.skip("no php-cli is installed")
    lines = b"".join(base64.b64encode(value) + b"\n" for value in values(new))
    assert subprocess.run([php, "-r", READER], input=lines, capture_output=True, check=True).stdout == b"ok\n" * 6 * posts
