"""The pictures of the terminal (.ci/terminal_pictures.py): each shows the whole output, and loads nothing from elsewhere."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

pytest.importorskip("pty")
pytest.importorskip("termios")

SCRIPT = Path(__file__).parents[2] / ".ci" / "terminal_pictures.py"


@pytest.fixture(scope="module")
def pictures() -> Any:
    if not SCRIPT.is_file():
        pytest.skip("there is no .ci in a source distribution")
    spec = spec_from_file_location("terminal_pictures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["80", "40", "dumb", "pipe"])
def test_a_picture_has_the_output_and_loads_nothing(pictures: Any, kind: str) -> None:
    terminal = pictures.TERMINALS[kind]
    shown = pictures.output(pictures.COMMANDS["base"], terminal)
    assert (b"\x1b[" in shown) == kind.isdecimal()
    for theme in pictures.THEMES:
        svg = pictures.picture(shown, "absolve base", terminal.columns, theme)
        text = "".join(map(str, etree.fromstring(svg.encode()).itertext())).replace("\xa0", " ")
        assert "(3.3) URL used to retrieve" in text
        assert not re.search(r"""(?:url\(|href=|src=)["']?https?:""", svg)
