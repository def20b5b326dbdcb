"""html5lib with patches for the current HTML Standard (13.2, parsing).

In: a text. Out: a tree of html5lib. html5lib 1.1 is older than its own test suite and than browsers; where they differ
these are right. So the phases below are patched, each with the clause that it implements; the tests run the suite.
"""

from __future__ import annotations

from typing import Any, Final

from html5lib import html5parser, treebuilders
from html5lib._tokenizer import HTMLTokenizer
from html5lib._utils import MethodDispatcher
from html5lib.constants import namespaces, specialElements, tokenTypes
from html5lib.treebuilders.base import Marker

HTML: Final = namespaces["html"]


class TreeBuilder(treebuilders.getTreeBuilder("etree")):  # type: ignore[misc]
    """The builder of ElementTree trees, with support for template elements."""

    def reset(self) -> None:
        super().reset()
        self.modes: list[str] = []  # 13.2.4.1 the stack of template insertion modes
        self.openElements: list[Any]

    def has_template(self) -> bool:
        return bool(self.modes)

    def elementInScope(self, target: Any, variant: str | None = None) -> bool:  # noqa: N802
        """13.2.4.2: a template bounds every scope."""
        if not self.modes:
            return bool(super().elementInScope(target, variant))
        whole = self.openElements
        above = next((i for i in range(len(whole) - 1, 0, -1) if whole[i].nameTuple == (HTML, "template")), 0)
        self.openElements = [whole[0], *whole[above + 1 :]] if above else whole
        try:
            return bool(super().elementInScope(target, variant))
        finally:
            self.openElements = whole

    def getTableMisnestedNodePosition(self) -> tuple[Any, Any]:  # noqa: N802
        """13.2.6.1, foster parenting: into the template, if the last template was opened after the last table."""
        for node in reversed(self.openElements):
            if node.nameTuple == (HTML, "template"):
                return node, None
            if node.nameTuple == (HTML, "table"):
                break
        parent, before = super().getTableMisnestedNodePosition()
        return parent, before


class Parser(html5parser.HTMLParser):
    """html5lib's parser with the patched phases; `scripting` is the scripting flag (13.2.4.5)."""

    def __init__(self, tree: type[TreeBuilder] = TreeBuilder, tokenizer: type[HTMLTokenizer] = HTMLTokenizer, *, scripting: bool = False) -> None:
        super().__init__(tree)
        self._tokenizer = tokenizer
        self._scripting = scripting
        for name, phase in _PHASES.items():
            self.phases[name] = phase(self, self.tree)

    def _parse(self, stream: Any, *_: Any, **_options: Any) -> None:
        self.innerHTMLMode = False
        self.scripting = self._scripting
        self.tokenizer = self._tokenizer(stream, parser=self)
        self.reset()
        self.mainLoop()

    @property
    def innerHTML(self) -> Any:  # noqa: N802
        """Return a true value in templates, too: html5lib allows some cases in fragments only."""
        return self._inner or (self.tree.has_template() and "template")

    @innerHTML.setter
    def innerHTML(self, value: Any) -> None:  # noqa: N802
        self._inner = value

    def resetInsertionMode(self) -> None:  # noqa: N802
        """13.2.4.1, reset the insertion mode: with templates and the head, without select."""
        modes = {
            **dict.fromkeys(("td", "th"), "inCell"), **dict.fromkeys(("tbody", "thead", "tfoot"), "inTableBody"), "tr": "inRow",
            "caption": "inCaption", "colgroup": "inColumnGroup", "table": "inTable", "head": "inHead", "body": "inBody", "frameset": "inFrameset",
        }
        for index, node in reversed(list(enumerate(self.tree.openElements))):
            name = self._inner if index == 0 and self._inner else node.name
            if index and node.namespace != HTML:
                continue
            if name == "template":
                self.phase = self.phases[self.tree.modes[-1]]
            elif name == "html":
                self.phase = self.phases["afterHead" if self.tree.headPointer is not None else "beforeHead"]
            elif name in modes and not (name in {"td", "th", "head"} and index == 0):
                self.phase = self.phases[modes[name]]
            elif index == 0:
                self.phase = self.phases["inBody"]
            else:
                continue
            return


# --- the patched phases --------------------------------------------------------------------------------------------

_OLD: Final[dict[str, Any]] = html5parser.getPhases(False)
_IN_HEAD: Final = frozenset("base basefont bgsound link meta noframes script style template title".split())


def _mended(name: str, starts: dict[str, Any], ends: dict[str, Any], **others: Any) -> type:
    """Return html5lib's phase with other handlers for these start and end tags, and with other methods."""
    old: Any = _OLD[name]
    for table, changes in (("startTagHandler", starts), ("endTagHandler", ends)):
        if changes:
            handlers = others[table] = MethodDispatcher({**vars(old)[table], **changes}.items())
            handlers.default = changes.get("", vars(old)[table].default)
    return type(name, (old,), others)


def _template_start(phase: Any, token: Any) -> None:
    """13.2.6.4.4, start tag "template"."""
    phase.tree.activeFormattingElements.append(Marker)
    phase.parser.framesetOK = False
    phase.tree.modes.append("inTemplate")
    phase.tree.insertElement(token)
    phase.parser.phase = phase.parser.phases["inTemplate"]


def _template_end(phase: Any, token: Any) -> None:  # noqa: ARG001
    """13.2.6.4.4, end tag "template"."""
    if phase.tree.has_template():
        while phase.tree.openElements.pop().nameTuple != (HTML, "template"):
            pass
        phase.tree.clearActiveFormattingElements()
        phase.tree.modes.pop()
        phase.parser.resetInsertionMode()


def _start_in_head(phase: Any, token: Any) -> Any:
    return phase.parser.phases["inHead"].processStartTag(token)


def _end_in_head(phase: Any, token: Any) -> Any:
    return phase.parser.phases["inHead"].processEndTag(token)


def _unless_template(handler: Any) -> Any:
    """Ignore the token in a template: html, body, frameset and form have no effect there (13.2.6.4.7)."""
    return lambda phase, token: None if phase.tree.has_template() else handler(phase, token)


def _form_start(phase: Any, token: Any) -> None:
    """13.2.6.4.7, start tag "form": in a template there is no form element pointer."""
    pointer = phase.tree.formPointer
    if phase.tree.has_template():
        phase.tree.formPointer = None
        _OLD["inBody"].startTagForm(phase, token)
        phase.tree.formPointer = pointer
    elif pointer is None:
        _OLD["inBody"].startTagForm(phase, token)


def _form_end(phase: Any, token: Any) -> None:
    if not phase.tree.has_template():
        _OLD["inBody"].endTagForm(phase, token)
    elif phase.tree.elementInScope("form"):
        while phase.tree.openElements.pop().nameTuple != (HTML, "form"):
            pass


def _br_end(phase: Any, token: Any) -> None:
    """13.2.6.4.7, end tag "br": like the start tag, it clears the frameset-ok flag, too."""
    _OLD["inBody"].endTagBr(phase, token)
    phase.parser.framesetOK = False


def _select_start(phase: Any, token: Any) -> None:
    """13.2.6.4.7, start tag "select": no insertion mode of its own; a nested one closes the outer one."""
    if phase.tree.elementInScope("select"):
        while phase.tree.openElements.pop().nameTuple != (HTML, "select"):
            pass
        return
    phase.tree.reconstructActiveFormattingElements()
    phase.tree.insertElement(token)
    phase.parser.framesetOK = False


def _input_start(phase: Any, token: Any) -> None:
    """13.2.6.4.7, start tag "input": it closes a select."""
    if phase.tree.elementInScope("select"):
        while phase.tree.openElements.pop().nameTuple != (HTML, "select"):
            pass
    _OLD["inBody"].startTagInput(phase, token)


def _image_start(phase: Any, token: Any) -> Any:
    """13.2.6.4.7: "Change the token's tag name to img and reprocess it. (Don't ask.)"."""
    token["name"] = "img"
    return phase.processStartTag(token)


def _start_in_table(phase: Any, token: Any) -> Any:
    """13.2.6.4.9, anything else: html5lib drops a token that is to be reprocessed."""
    phase.tree.insertFromTable = True
    again = phase.parser.phases["inBody"].processStartTag(token)
    phase.tree.insertFromTable = False
    return again


def _end_in_body(phase: Any, token: Any) -> Any:
    """13.2.6.4.7, any other end tag: it closes HTML elements only; a special one of any namespace ends the search."""
    for node in reversed(phase.tree.openElements):
        if node.nameTuple == (HTML, token["name"]):
            phase.tree.generateImpliedEndTags(exclude=token["name"])
            while phase.tree.openElements.pop() is not node:
                pass
            return
        if node.nameTuple in specialElements or node.nameTuple in _SPECIAL_TODAY:
            return


def _ordinary(phase: Any, token: Any) -> Any:
    return phase.startTagOther(token)


def _table_start(phase: Any, token: Any) -> Any:
    """13.2.6.4.9, start tag "table": ignored where no table is in scope."""
    if not phase.tree.elementInScope("table", variant="table"):
        return None
    phase.parser.phase.processEndTag({"type": tokenTypes["EndTag"], "name": "table", "data": {}, "selfClosing": False})
    return token


def _clear_to(*names: str) -> Any:
    """13.2.6.4.9, .13 and .14: clear the stack back to a table context of this kind."""
    context = {(HTML, name) for name in (*names, "html", "template")}

    def clear(phase: Any) -> None:
        while phase.tree.openElements[-1].nameTuple not in context:
            phase.tree.openElements.pop()

    return clear


def _end_to(mode: str) -> Any:
    """13.2.6.4.11 and .15: the end of a caption or cell; SVG or MathML elements of that name do not count."""

    def end(phase: Any, token: Any) -> None:
        if not phase.tree.elementInScope(token["name"], variant="table"):
            return
        while phase.tree.openElements.pop().nameTuple != (HTML, token["name"]):
            pass
        phase.tree.clearActiveFormattingElements()
        phase.parser.phase = phase.parser.phases[mode]

    return end


def _foreign_end(phase: Any, token: Any) -> Any:
    """13.2.6.5: `</p>` and `</br>` leave foreign content."""
    if token["name"] not in {"br", "p"}:
        return _OLD["inForeignContent"].processEndTag(phase, token)
    tree, parser = phase.tree, phase.parser
    while not (
        tree.openElements[-1].namespace == HTML
        or parser.isHTMLIntegrationPoint(tree.openElements[-1])
        or parser.isMathMLTextIntegrationPoint(tree.openElements[-1])
    ):
        tree.openElements.pop()
    return parser.phase.processEndTag(token)


def _start_in_template(phase: Any, token: Any) -> Any:
    """13.2.6.4.22: the first start tag that is not allowed in a head sets the insertion mode of the template."""
    name = token["name"]
    if name in _IN_HEAD:
        return _start_in_head(phase, token)
    mode = {
        **dict.fromkeys(("caption", "colgroup", "tbody", "tfoot", "thead"), "inTable"),
        "col": "inColumnGroup", "tr": "inTableBody", **dict.fromkeys(("td", "th"), "inRow"),
    }.get(name, "inBody")
    phase.tree.modes[-1] = mode
    phase.parser.phase = phase.parser.phases[mode]
    return token


def _end_in_template(phase: Any, token: Any) -> Any:
    return _end_in_head(phase, token) if token["name"] == "template" else None


_cell_end = _end_to("inRow")
_SPECIAL_TODAY: Final = {(HTML, name) for name in ("main", "search", "summary", "template", "keygen")}
_html_start = _unless_template(_OLD["inBody"].startTagHtml)
_START: Final = {"template": _start_in_head}
_END: Final = {"template": _end_in_head}
_PHASES: Final[dict[str, Any]] = {
    "inTemplate": _mended("inBody", {}, {}, processStartTag=_start_in_template, processEndTag=_end_in_template, processEOF=lambda _: False),
    "inHead": _mended("inHead", {"template": _template_start, "command": _OLD["inHead"].startTagOther}, {"template": _template_end}),
    "afterHead": _mended("afterHead", {"template": _OLD["afterHead"].startTagFromHead}, _END),
    "inBody": _mended("inBody", {
        **_START,
        **{name: _unless_template(vars(_OLD["inBody"])["startTagHandler"][name]) for name in ("html", "body", "frameset")},
        **dict.fromkeys(("isindex", "command", "menuitem"), _ordinary), "image": _image_start, "form": _form_start, "select": _select_start,
        "input": _input_start,
    }, {**_END, "": _end_in_body, "br": _br_end, "form": _form_end, "select": _OLD["inBody"].endTagBlock}),
    "inTable": _mended(
        "inTable",
        {**_START, "": _start_in_table, "html": _html_start, "table": _table_start, "form": _unless_template(_OLD["inTable"].startTagForm)},
        _END, clearStackToTableContext=_clear_to("table"),
        processEOF=lambda _phase: False,  # html5lib takes an SVG element named html for the root, and fails
    ),
    "inCaption": _mended("inCaption", {"html": _html_start}, {"caption": _end_to("inTable")}),
    "inCell": _mended("inCell", {"html": _html_start}, dict.fromkeys(("td", "th"), _cell_end), endTagTableCell=_cell_end),
    "inTableBody": _mended("inTableBody", {"html": _html_start}, {}, clearStackToTableBodyContext=_clear_to("tbody", "tfoot", "thead")),
    "inRow": _mended("inRow", {"html": _html_start}, {}, clearStackToTableRowContext=_clear_to("tr")),
    "inColumnGroup": _mended(
        "inColumnGroup", {**_START, "html": _html_start}, _END,
        ignoreEndTagColgroup=lambda phase: phase.tree.openElements[-1].name != "colgroup",
    ),
    "inForeignContent": _mended("inForeignContent", {}, {}, processEndTag=_foreign_end),
}
