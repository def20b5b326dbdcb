"""Which file of a folder a relative reference names."""

import pytest

from absolve.document.holdings import named_by

FILES = {
    "index.html", "docs/p.html", "docs/index.htm", "a b.html", "c%20d.html", "q.html?x=1", "s.css", "docs/é.png",
    "x:y.html",
}  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "document", "expected"),
    [
        ("", "index.html", None),
        ("#x", "index.html", None),
        ("?x=1", "index.html", None),
        ("/s.css", "index.html", None),
        ("//h/s.css", "index.html", None),
        ("\\s.css", "index.html", None),
        ("http://h/s.css", "index.html", None),
        ("x:y.html", "index.html", None),
        ("./x:y.html", "index.html", "x:y.html"),
        ("../s.css", "index.html", None),
        ("../../s.css", "docs/p.html", None),
        ("../s.css?v=3#a", "docs/p.html", "s.css"),
        ("missing.css", "index.html", None),
        ("a%20b.html", "index.html", "a b.html"),
        ("a b.html", "index.html", "a b.html"),
        ("c%20d.html", "index.html", "c%20d.html"),
        ("c%2520d.html", "index.html", "c%20d.html"),
        ("q.html?x=1", "index.html", "q.html?x=1"),
        ("q.html%3Fx=1", "index.html", "q.html?x=1"),
        ("q.html?x=2", "index.html", None),
        ("docs/%C3%A9.png", "index.html", "docs/é.png"),
        ("docs/", "index.html", "docs/index.htm"),
        ("docs", "index.html", "docs/index.htm"),
        (".", "docs/p.html", "docs/index.htm"),
        ("..", "docs/p.html", "index.html"),
        ("./", "index.html", "index.html"),
        ("p.html/", "docs/index.htm", None),
    ],
)  # fmt: skip
def test_a_relative_reference_names_a_file_of_the_folder(reference: str, document: str, expected: str | None) -> None:
    assert named_by(reference, document, FILES.__contains__) == expected
