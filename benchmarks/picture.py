"""Draw docs/speed.svg, the picture of README, from RESULTS.md: python -m benchmarks.picture

One bar for each library in the race of the web pages: how many times longer it takes than absolve, by the median. The picture
has colours for light and dark pages (`prefers-color-scheme`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
PICTURE: Final = Path(__file__).parents[1] / "docs" / "speed.svg"
RACES: Final = {"pages": "Pages rewritten", "pages, listed": "Links of pages listed"}  # workload -> title of its bars
_SECTION: Final = re.compile(r"^## Beside the peers\n\n(Measured.*?)\n\n.*?\n\n(\|.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_WIDTH: Final = 680  # pixels of the picture, and of its parts
_LEFT: Final = 250
_BAR: Final = 350
_ROW: Final = 26


class Bar(NamedTuple):
    name: str
    speed: str  # MB/s
    times: float  # how many times longer than absolve


def races(results: str) -> tuple[str, dict[str, list[Bar]]]:
    """Return the line about the measurement, and the bars of each race. Raise ValueError if the section is missing."""
    found = _SECTION.search(results)
    if found is None:
        raise ValueError("RESULTS.md has no section 'Beside the peers'")
    bars: dict[str, list[Bar]] = {}
    workload = ""
    for line in found[2].splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 7:
            continue
        workload = cells[0] or workload
        bars.setdefault(workload, []).append(Bar(cells[2], cells[3], float(cells[5] or 1)))
    return found[1], bars


def drawn(results: str) -> str:
    """Return the picture as SVG."""
    measured, found = races(results)
    date = measured.split()[2]
    machine = measured.partition("`: ")[2].partition(";")[0]
    parts: list[str] = []
    top = 0
    for workload, title in RACES.items():
        rows = found[workload]
        parts.append(f'<text class="title" x="0" y="{top + 16}">{escape(title)}: times as long as absolve</text>')
        top += 26
        longest = max(bar.times for bar in rows)
        for bar in rows:
            parts.extend(row(bar, top, longest))
            top += _ROW
        top += 14
    parts.append(f'<text class="note" x="0" y="{top + 8}">{escape(date)}, {escape(machine)}. Shorter is better.</text>')
    label = "; ".join(f"{bar.name} {bar.times:.1f}" for bar in found["pages"])
    return _FRAME.format(width=_WIDTH, height=top + 16, label=escape(f"Times as long as absolve: {label}"), parts="\n".join(parts))


def row(bar: Bar, top: int, longest: float) -> list[str]:
    """Return the elements of one bar: its name, the bar, its number."""
    ours = bar.name.startswith("absolve")
    width = max(2.0, _BAR * bar.times / longest)
    return [
        f'<text class="name" x="{_LEFT - 10}" y="{top + 15}">{escape(bar.name)}</text>',
        f'<rect class="{"ours" if ours else "other"}" x="{_LEFT}" y="{top + 3}" width="{width:.1f}" height="16" rx="2"/>',
        f'<text class="number" x="{_LEFT + width + 6:.1f}" y="{top + 15}">{bar.times:.1f}</text>',
    ]


_FRAME: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{label}</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #1f2328 }}
.title {{ font-weight: 600 }}
.name {{ text-anchor: end }}
.note {{ font-size: 11px; fill: #59636e }}
.ours {{ fill: #1a7f37 }}
.other {{ fill: #8c959f }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }}
.note {{ fill: #9198a1 }}
.ours {{ fill: #3fb950 }}
.other {{ fill: #6e7681 }}
}}
</style>
{parts}
</svg>
"""

if __name__ == "__main__":
    PICTURE.write_text(drawn(RESULTS.read_text("utf-8")), "utf-8")
