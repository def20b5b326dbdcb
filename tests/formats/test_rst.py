"""reStructuredText: links are where docutils finds them, and literal text has none."""

import random
import time
from typing import Any

import pytest

import absolve

OPTIONS: dict[str, Any] = {"media_type": "text/x-rst", "url": "http://h/d/"}
# Documents, in which `§` is where a relative reference gets its base.
DOCUMENTS = {
    "embedded URIs": "`a <§x.html>`_, `b c <§y z>`__ `a\n  b <§x>`_ `alias <name_>`_ `<§x>`_ `a<x>`_ `a <x >`_ \\`a <x>`_ `a <§x\\_>`_",
    "names and mail": "`name`_ `a <b@c.de>`_ `a <mailto:b@c.de>`_\n\n.. _a: b@c.de",
    "targets": ".. _name: §x\n.. _`phrase: name`: §y\n.. _a\\:b: §z\n.. _long: §p/\n   q\n.. _alias: name_\n.. _internal:\n.. __: §v\n__ §w\n.. _o: x\\_y",
    "images": ".. image:: §i.png\n   :alt: x\n   :target: §page\n\n.. |s| image:: §s.png\n\n.. figure:: §f.png\n   :target: name_\n\n   A `caption <§c>`_",
    "code": "``a `b <c>`_`` :doc:`c <d>`\n\n.. code-block:: rst\n   :caption: x\n\n   `a <b>`_\n\n   http://h/\n\n>>> `a <b>`_\n`a <b>`_\n\n`c <§d>`_",
    "literal blocks": "a::\n\n  `b <c>`_\n\n  .. _x: y\n\n- b::\n\n      `b <c>`_\n\n  `d <§e>`_\n\nc::\n\n> `b <c>`_\n\n::\n\n  `b <c>`_\n\n`d <§e>`_",
    "comments": ".. `a <b>`_\n   `a <b>`_\n\n   `a <b>`_\n\n..\n\n   `c <§d>`_",
    "directives": ".. note:: `a <§b>`_\n\n   `c <§d>`_\n\n.. include:: x.txt\n   :url: x\n\n.. csv-table:: t\n   :url: §t.csv\n\n.. list-table::\n\n   * - .. image:: §i.png\n     - `a <§b>`_",
    "raw HTML": ".. raw:: html\n\n   <a href='§x'>\n\n   <img src=§y>\n\n.. raw:: latex\n\n   <a href='x'>",
    "notes": ".. [1] `a <§b>`_\n.. [#x] `c\n   <§d>`_\n\n:Field: `e <§f>`_\n\n| `g <§h>`_\n\nterm\n   .. image:: §i",
    "ends of lines": "`a <§b>`_\r\n\r\n::\r\n\r\n  `a <b>`_\r\n\r\n.. _x: §y\r\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_become_absolute_and_nothing_else_changes(name: str) -> None:
    page, wanted = (DOCUMENTS[name].replace("§", base) for base in ("", "http://h/d/"))
    wanted = wanted.replace(": x\\_y", ": http://h/d/x\\_y")
    assert absolve.rewrite(page, **OPTIONS) == wanted
    assert not absolve.verify(page, wanted, **OPTIONS)


def test_a_uri_has_no_blanks_and_no_escapes() -> None:
    page = "`a <b c\\ d\\_>`_ see http://h/x\\_y, (https://h/y_(z)).\n\n.. _x: http://h/\n   a/b"
    assert [row.reference for row in absolve.links(page, **OPTIONS)] == [
        "bc d_", "http://h/x_y", "https://h/y_(z)", "http://h/a/b",
    ]  # fmt: skip


WRITTEN = [
    (".. _a: x", "http://h/a b_", ".. _a: http://h/a%20b\\_"),
    ("`a <x>`_", "http://h/<`\\_/", "`a <http://h/\\<\\`\\\\\\_/>`_"),
    ("http://h/x", "http://h/a_", "http://h/a%5F"),
    ("http://h/x.", "y", "http://h/x."),
]


@pytest.mark.parametrize(("page", "new", "wanted"), WRITTEN)
def test_what_is_written_stays_a_link(page: str, new: str, wanted: str) -> None:
    assert absolve.rewrite(page, policy=lambda _: new, **OPTIONS) == wanted
    assert not absolve.verify(page, wanted, policy=lambda _: new, **OPTIONS)
    assert len(list(absolve.links(wanted, **OPTIONS))) == 1


INDENTS = ["", "", "", "   ", "- ", "  ", "      "]
TEXTS = [
    *("`a <N>`_", "`a <N>`__", "`a <b N>`_", "``x `a <N>`_``", ":r:`a <N>`", "`a <n_>`_", "http://h/N", "(http://h/N).", "http://h/N\\_x", "<http://h/N>"),
    *(".. _nN: N", ".. _`a: b N`: N", ".. _nN:\n   N", "__ N", ".. __: N", ".. _e: n_", ".. note::", ".. note:: `a <N>`_", ".. N `a <N>`_", ".. [N] `a <N>`_"),
    *("text::", ">>> `a <N>`_", "text", "", "`a\\` <N>`_", "`a <N\\_>`_", "*a* `b <N>`_", "| `a <N>`_", ":field: `a <N>`_", "`a <N >`_", "`N`_ `a<N>`_"),
]  # fmt: skip


def by_docutils(page: str) -> set[str]:
    """Return the URIs of a document; directives that read files or the network are off."""
    nodes = pytest.importorskip("docutils.nodes")
    frontend, rst, utils = (pytest.importorskip(f"docutils.{name}") for name in ("frontend", "parsers.rst", "utils"))
    settings = frontend.get_default_settings(rst.Parser)
    settings.file_insertion_enabled, settings.report_level, settings.halt_level = False, 5, 6
    document = utils.new_document("x", settings)
    rst.Parser().parse(page, document)
    found = (node.get("refuri") for node in document.findall(nodes.Element))
    return {uri for uri in found if uri}


def test_links_are_where_docutils_finds_them() -> None:
    chosen = random.Random(1)  # noqa: S311 - tests are no secrets
    different = []
    for _ in range(400):
        lines = [chosen.choice(INDENTS) + chosen.choice(TEXTS) for _ in range(chosen.randint(1, 6))]
        page = "\n\n".join(line.replace("N", f"n{number}.x") for number, line in enumerate(lines))
        if {row.reference for row in absolve.links(page, **OPTIONS)} != by_docutils(page):
            different.append(page)
    assert not different


@pytest.mark.parametrize(
    "unit",
    ["`", "``", "`a <", "`a <b", "..\n", ".. a::\n", ".. _a: ", ".. _a: b\n", "::\n\n", "- ", "`a <b>`_", "http://a)", ":a:", "__ ", "a::\n\n  b\n", "a\n b\n", ".. _`"],
)  # fmt: skip
def test_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    absolve.rewrite(unit * 30_000, **OPTIONS)
    assert time.process_time() - began < 20
