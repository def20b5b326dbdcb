"""Sphinx's configuration: MyST pages, furo, and autodoc.

Build: `python -m sphinx -W --keep-going -b html docs build/site` (the extra "docs").
Sphinx, because autodoc documents the typed API and `-W` makes each reference that leads nowhere an error. furo, because
it uses the fonts of the system, and its pages request nothing from other hosts.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))  # for api_pages

import api_pages

from absolve import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "absolve"
author = "the absolve developers"
copyright = author  # noqa: A001 - Sphinx's name
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.githubpages"]
myst_enable_extensions = ["attrs_block", "attrs_inline"]
myst_heading_anchors = 3
smartquotes = False  # commands are copied
myst_linkify_fuzzy_links = False
autodoc_mock_imports = api_pages.MOCKED
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88  # a parameter a line
default_role = "py:obj"  # of docstrings: a name leads to what it names
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"absolve {release}"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"navigation_with_keys": True}
suppress_warnings = ["myst.header"]  # included files begin with a heading of their own

# Pages of the repository outside docs/ that are pages of the site, too.
_INCLUDED = {
    "CONTRIBUTING.md": "/project/contributing.md",
    "SECURITY.md": "/project/security.md",
    "CHANGELOG.md": "/project/changelog.md",
    "README.md": "/index.md",
    "benchmarks/RESULTS.md": "/project/performance.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([\w./-]+)(#[\w-]+)?\)")
_ANCHOR = re.compile(r'^<a id="(\w+)"></a>', re.MULTILINE)
_INCLUDE = re.compile(r"^<!-- include (\S+) -->$", re.MULTILINE)
_AUTODOC = re.compile(r"^<!-- autodoc: (\S+) -->$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^<!-- (\{\w+\}.*?)^-->$", re.MULTILINE | re.DOTALL)  # readers of the Markdown do not see it
_SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Include files of the repository, and what only the site has; adapt links to files outside docs/."""
    included = _INCLUDE.search(source[0])
    place = ROOT / included[1] if included is not None else DOCS / f"{docname}.md"
    app.env.note_dependency(str(place))
    text = source[0] if included is None else place.read_text("utf-8")
    text = _AUTODOC.sub(lambda found: api_pages.public(found[1]), text)
    text = _DIRECTIVE.sub(r"```\1```", text)
    text = _ANCHOR.sub(lambda found: f"{{#{found[1].lower()}}}\n", text)  # as docutils makes identifiers
    source[0] = _LINK.sub(lambda found: adapted(found, place.parent), text)


def adapted(found: re.Match[str], folder: Path) -> str:
    """Return a link as the site needs it: to a page of the site, or only its text where the site has no such page."""
    image, label, name, fragment = found.groups("")
    fragment = fragment.lower()
    target = (folder / name).resolve()
    if target.is_relative_to(DOCS):
        return f"{image}[{label}](/{target.relative_to(DOCS)}{fragment})" if target.suffix else found[0]
    page = _INCLUDED.get(str(target.relative_to(ROOT))) if target.is_relative_to(ROOT) else None
    return f"[{label}]({page}{fragment})" if page is not None else label


def mend(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Give captions of the navigation their level (WAI-ARIA 1.2, heading), and parameters no list without terms."""
    del app, pagename, templatename, doctree
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(' role="heading">', ' role="heading" aria-level="2">')
    context["body"] = _SIGNATURE.sub(lambda found: _without_list(found[0]), context.get("body", ""))


def _without_list(signature: str) -> str:
    for tag, start, end in (("dl", '<span class="sig-params">', "</span>"), ("dd", "<span>", "</span>")):
        signature = signature.replace(f"<{tag}>", start).replace(f"</{tag}>", end)
    return signature


def plain(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Show docstrings literally: a backslash and a star are text in them, and the fields of rows have meanings."""
    del app, what, obj, options
    if lines and lines[0].startswith("Alias for field number"):
        lines[:] = [api_pages.meaning(name), ""]
    lines[:] = [line.replace("\\", "\\\\").replace("*", "\\*") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", plain)
    app.connect("html-page-context", mend, priority=900)  # after furo
    return {"parallel_read_safe": True}
