"""A rewrite of old URLs outside links (`--mentions`): a WordPress export, a dump and CSV, judged by PHP; what stays is reported."""

import base64
import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

import absolve
from shapes import wordpress

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


def values_of_table(data: bytes) -> list[bytes]:
    return [value.replace(b'""', b'"') for value in re.findall(rb'"((?:[^"]|"")*)"', data)]


MADE = [
    pytest.param(wordpress.export, values_of_export, "export.xml", id="export"),
    pytest.param(wordpress.dump, values_of_dump, "dump.sql", id="dump"),
    pytest.param(wordpress.table, values_of_table, "table.csv", id="table"),
]
POSTS = {"export.xml": 1000, "dump.sql": 300, "table.csv": 300}
OPTIONS = {"export.xml": {"media_type": "text/xml"}, "dump.sql": {"media_type": "application/x.other"}, "table.csv": {"media_type": "application/x.other"}}


@pytest.mark.parametrize(("make", "values", "name"), MADE)
def test_no_old_url_is_left_and_php_reads_every_value(make: Callable[[int], bytes], values: Callable[[bytes], list[bytes]], name: str) -> None:
    old = make(POSTS[name])
    new = absolve.rewrite(old, policy=FORWARD, **OPTIONS[name])
    assert b"old.example" not in wordpress.LEFT.sub(b"", new)
    assert wordpress.LEFT.findall(new) == wordpress.LEFT.findall(old)
    assert absolve.rewrite(new, policy=BACK, **OPTIONS[name]) == old
    assert len(values(new)) == len(values(old)) == 6 * POSTS[name]
    if (php := shutil.which("php")) is None:
        pytest.skip("no php-cli is installed")
    lines = b"".join(base64.b64encode(value) + b"\n" for value in values(new))
    found = subprocess.run([php, "-r", READER], input=lines, capture_output=True, check=True).stdout
    assert found == b"ok\n" * len(values(new))
