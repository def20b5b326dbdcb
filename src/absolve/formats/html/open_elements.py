"""The open elements that decide about tags: tables and templates, and all elements inside foreign content.

In: start and end tags. Out: whether the tree builder keeps a part of a table (KEPT) or drops it (IGNORED; HTML Standard
13.2.6.4.9 to .15, .22), and the counts of open tables and templates; from the outermost svg or math element inwards the
namespace of the current node, and whether the rules for foreign content or of the insertion mode apply to a tag
(13.2.4.2 and 13.2.6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.column_buffers import IntColumn
from absolve.formats.html import names
from absolve.formats.html.names import ELEMENT_ID, Trait

if TYPE_CHECKING:
    import cython


# Numbers that open_elements.pxd declares, so that compiled code does not look them up.
HTML = names.HTML
SVG = names.SVG
MATHML = names.MATHML
KEPT = names.KEPT
IGNORED = names.IGNORED

_TRAITS = names.ELEMENT_TRAITS
_T_HEAD = int(Trait.HEAD)
_T_TABLE_PART = int(Trait.TABLE_PART)
_T_CELL = int(Trait.CELL)

_CAPTION = ELEMENT_ID[b"caption"]
_COL = ELEMENT_ID[b"col"]
_COLGROUP = ELEMENT_ID[b"colgroup"]
_TD = ELEMENT_ID[b"td"]
_TEMPLATE = ELEMENT_ID[b"template"]
_TH = ELEMENT_ID[b"th"]
_TR = ELEMENT_ID[b"tr"]

# Insertion modes of a template, by the first tag in it (13.2.6.4.22, "in template"). Up to `DECISIVE`, a mode affects
# the next start tag, or changes by it.
_FRESH = 0
_IN_COLUMNS = 1
DECISIVE = 1
_IN_BODY = 2
_IN_TABLE = 3
_IN_TABLE_BODY = 4
_IN_ROW = 5


class OpenTables:
    """The open tables and templates.

    `size` is the number of open tables, `first` the number of those outside the innermost template. `innermost` is the
    open cell or caption of the last table (0 if there is none); `around` is the stack of its values outside each table.
    Most tables are not nested, so their cells create no objects. `mode` is the insertion mode of the innermost
    template, _IN_BODY without one. `templates` is a stack with `first` and `mode` outside each template, as plain
    integers: a tuple for each would add work for the garbage collector.
    """

    def __init__(self) -> None:
        self.around: list[int] = []
        self.templates: list[int] = []
        self.begin()

    def begin(self) -> cython.int:
        """Reset to no open tables and templates, as before the first tag of a document."""
        self.around.clear()
        self.innermost = 0
        self.size = 0
        self.first = 0
        self.templates.clear()
        self.template_depth = 0
        self.mode = _IN_BODY
        return 0

    def open_template(self) -> cython.int:
        self.templates.append(self.first)
        self.templates.append(self.mode)
        self.first = self.size
        self.mode = _FRESH
        self.template_depth += 1
        return 0

    def close_template(self) -> cython.int:
        if self.template_depth:
            if self.size > self.first:
                self.innermost = self.around[self.first]
                self.size = self.first
                del self.around[self.first :]
            self.mode = self.templates.pop()
            self.first = self.templates.pop()
            self.template_depth -= 1
        return 0

    def drops(self, element: cython.int) -> cython.bint:
        """Return whether a template's insertion mode ignores this start tag; the first one sets the mode (.22)."""
        if self.mode == _FRESH and not _TRAITS[element] & _T_HEAD:
            self._enter_mode(element)
        return self.mode == _IN_COLUMNS and element != _COL and element != _TEMPLATE

    def _enter_mode(self, element: cython.int) -> cython.int:
        """Set the mode by the first start tag of a template; a part of a table opens an implied table."""
        self.mode = _IN_BODY
        if element == _COL:
            self.mode = _IN_COLUMNS
        elif element == _TR:
            self.mode = _IN_TABLE_BODY
        elif element == _TD or element == _TH:
            self.mode = _IN_ROW
        elif _TRAITS[element] & _T_TABLE_PART:
            self.mode = _IN_TABLE
        if self.mode != _IN_BODY:
            self._open()
        return 0

    def _open(self) -> cython.int:
        self.around.append(self.innermost)
        self.innermost = 0
        self.size += 1
        return 0

    def _without_table(self) -> cython.int:
        """Return the mode of a template that began with a part of a table, while no other table in it is open, or 0."""
        if not self.template_depth or self.count() != 1 or self.mode == _IN_BODY:
            return 0
        return self.mode

    def count(self) -> cython.Py_ssize_t:
        """Return the number of open tables in the innermost template, including an implied one."""
        return self.size - self.first

    def any(self) -> cython.bint:
        """Return whether a table is open in the innermost template; an implied one does not count."""
        return self.count() > 0 and not self._without_table()

    def between_cells(self) -> cython.bint:
        """Return whether the current position is in a table or its rows, outside cells (13.2.6.4.9)."""
        return self.count() > 0 and self.innermost == 0

    def open_table(self) -> cython.int:
        """Open a table: directly in a table it closes and replaces that one, in a cell it is nested (13.2.6.4.9)."""
        if self.between_cells():
            return IGNORED if self._without_table() else KEPT
        self._open()
        return KEPT

    def close_table(self) -> cython.int:
        """Close the innermost table, which must be open."""
        self.innermost = self.around.pop()
        self.size -= 1
        return 0

    def start_part(self, element: cython.int) -> cython.int:
        """Process the start tag of a part; drop it outside tables (13.2.6.4.7), unless a template begins with one."""
        cell: cython.bint = element == _TD or element == _TH
        mode: cython.int = self._without_table()
        tables: cython.Py_ssize_t = self.count()
        if tables:
            self.innermost = 0
        if not tables or (mode == _IN_ROW and not cell) or (mode == _IN_TABLE_BODY and not cell and element != _TR):
            return IGNORED
        if _TRAITS[element] & _T_CELL:
            self.innermost = element
        return KEPT

    def end_part(self, element: cython.int) -> cython.bint:
        """Process the end tag of a part and return whether it closes the open cell."""
        if not self.count() or self.innermost == 0 or not self.ends_cell(self.innermost, element):
            return False
        self.innermost = 0
        return True

    def cell(self) -> cython.int:
        """Return the open cell or caption of the innermost table, 0 if there is none."""
        return self.innermost if self.count() else 0

    def ends_cell(self, cell: cython.int, element: cython.int) -> cython.bint:
        """Return whether the end tag closes this cell (13.2.6.4.11, .15); open row groups are not checked."""
        mode: cython.int = self._without_table()
        if mode == _IN_ROW and not _TRAITS[element] & _T_CELL:
            return False
        if mode == _IN_TABLE_BODY and not (_TRAITS[element] & _T_CELL or element == _TR):
            return False
        if cell == _CAPTION or element == _TD or element == _TH:
            return cell == element
        return element != _CAPTION and element != _COL and element != _COLGROUP


# --- foreign content ---------------

# Searches end after as many elements as browsers nest (512), so that time is linear.
DEPTH_LIMIT = 512

# Bits of an open element's number: its namespace,
_NAMESPACE = 3
# its kind of integration point (13.2.4.2),
_HTML_POINT = 4
_MATHML_POINT = 8
_ANNOTATION_XML_POINT = 16
_ANY_POINT = 4 | 8 | 16
# and, from this bit on, the number of its name.
_ELEMENT = 5

_T_SVG_POINT = int(Trait.SVG_POINT)
_T_MATHML_POINT = int(Trait.MATHML_POINT)
_T_CLOSES_P = int(Trait.CLOSES_P)
_T_SCOPE = int(Trait.SCOPE)
_ANNOTATION_XML = ELEMENT_ID[b"annotation-xml"]
_MALIGNMARK = ELEMENT_ID[b"malignmark"]
_MGLYPH = ELEMENT_ID[b"mglyph"]
_P = ELEMENT_ID[b"p"]
_SVG = ELEMENT_ID[b"svg"]
_HTML_TABLE = names.HTML | ELEMENT_ID[b"table"] << 5
_HTML_TEMPLATE = names.HTML | ELEMENT_ID[b"template"] << 5


class Stack:
    """Open elements, each as one integer: namespace, kind of integration point, and number of the name.

    `depth` is their count, `namespace` is set by the current node (HTML for an empty stack).
    """

    def __init__(self) -> None:
        self._nodes = IntColumn(narrow=True)
        self._names: list[bytes] = []  # in lower case, for elements without a number (0)
        self._known: dict[bytes, bytes] = {}  # the same names, interned
        self.begin()

    def begin(self) -> cython.int:
        """Reset to the empty stack, as before the first tag of a document."""
        self._nodes.cut(0)
        self._names.clear()
        self._known.clear()
        self.depth = 0
        self.namespace = HTML
        return 0

    def push(self, namespace: cython.int, element: cython.int, name: bytes, decided: cython.bint) -> cython.int:
        """Open an element; `decided`: an annotation-xml element whose encoding is HTML."""
        point: cython.int = 0
        if namespace == SVG and _TRAITS[element] & _T_SVG_POINT:
            point = _HTML_POINT
        elif namespace == MATHML:
            if _TRAITS[element] & _T_MATHML_POINT:
                point = _MATHML_POINT
            elif element == _ANNOTATION_XML:
                point = _ANNOTATION_XML_POINT | (_HTML_POINT if decided else 0)
        self._nodes.add(namespace | point | element << _ELEMENT)
        self._names.append(b"" if element else self._known.setdefault(name, name))
        self.depth += 1
        self.namespace = namespace
        return 0

    def pop_to(self, depth: cython.Py_ssize_t) -> cython.int:
        if depth == self.depth - 1:  # the most frequent case
            self._names.pop()
        else:
            del self._names[depth:]
        self.depth = len(self._names)
        self._nodes.cut(self.depth)
        self.namespace = self._nodes.at(self.depth - 1) & _NAMESPACE if self.depth else HTML
        return 0

    def _is(self, depth: cython.Py_ssize_t, element: cython.int, name: bytes) -> cython.bint:
        """Return whether the element at this depth has this name."""
        return self._nodes.at(depth) >> _ELEMENT == element and (element > 0 or self._names[depth] == name)

    def takes_html(self, element: cython.int) -> cython.bint:
        """Return whether a start tag is processed by the insertion mode (13.2.6, tree construction dispatcher)."""
        point: cython.int = self._nodes.at(self.depth - 1)
        if self.namespace == HTML or point & _HTML_POINT:
            return True
        if point & _MATHML_POINT:
            return element != _MGLYPH and element != _MALIGNMARK
        return bool(point & _ANNOTATION_XML_POINT) and element == _SVG

    def break_out(self) -> cython.int:
        """Pop until the current node is an integration point or in the HTML namespace (13.2.6.5)."""
        node: cython.int
        depth: cython.Py_ssize_t = self.depth
        while depth > 0:
            node = self._nodes.at(depth - 1)
            if node & _NAMESPACE == HTML or node & (_HTML_POINT | _MATHML_POINT):
                break
            depth -= 1
        return self.pop_to(depth)

    def find(self, element: cython.int, name: bytes) -> cython.Py_ssize_t:
        """Return the depth of the nearest element with this name above the last HTML element; -1 if there is none."""
        depth: cython.Py_ssize_t
        for depth in range(self.depth - 1, self._limit(), -1):
            if self._nodes.at(depth) & _NAMESPACE == HTML:
                return -1
            if self._is(depth, element, name):
                return depth
        return -1

    def find_html(self, element: cython.int) -> cython.Py_ssize_t:
        """Return the depth of the nearest HTML element with this number; -1 if there is none."""
        depth: cython.Py_ssize_t
        for depth in range(self.depth - 1, self._limit(), -1):
            if self._nodes.at(depth) == HTML | element << _ELEMENT:
                return depth
        return -1

    def is_bounded(self) -> cython.bint:
        """Return whether an HTML element or integration point is on the stack (13.2.4.2), or it exceeds the limit."""
        depth: cython.Py_ssize_t
        for depth in range(self.depth - 1, self._limit(), -1):
            if self._nodes.at(depth) & _NAMESPACE == HTML or self._nodes.at(depth) & _ANY_POINT:
                return True
        return self.depth > DEPTH_LIMIT

    def has_table(self) -> cython.bint:
        """Return whether an HTML table or template element is on the stack."""
        depth: cython.Py_ssize_t
        for depth in range(self.depth - 1, self._limit(), -1):
            if self._nodes.at(depth) in (_HTML_TABLE, _HTML_TEMPLATE):
                return True
        return False

    def close_p(self) -> cython.int:
        """Close a p element in scope above the nearest foreign element (13.2.6.4.7); return 1 if there was one."""
        node: cython.int
        depth: cython.Py_ssize_t
        for depth in range(self.depth - 1, self._limit(), -1):
            node = self._nodes.at(depth)
            if node & _NAMESPACE != HTML or _TRAITS[node >> _ELEMENT] & _T_SCOPE:
                return 0
            if node >> _ELEMENT == _P:
                self.pop_to(depth)
                return 1
        return 0

    def close_html(self, element: cython.int, name: bytes) -> cython.int:
        """Close an HTML element (13.2.6.4.7, any other end tag, and end tags with a scope).

        The search ends at an integration point. Return 1 for a guess: the adoption agency algorithm for inline elements
        (`b`, `span`) that end around a block is not simulated.
        """
        depth: cython.Py_ssize_t
        node: cython.int
        around_block: cython.int = 0
        for depth in range(self.depth - 1, self._limit(), -1):
            node = self._nodes.at(depth)
            if node & _NAMESPACE != HTML:
                if node & _ANY_POINT:
                    return 0
                continue
            if self._is(depth, element, name):
                self.pop_to(depth)
                return around_block
            if _TRAITS[node >> _ELEMENT] & _T_SCOPE:
                return 0
            if _TRAITS[node >> _ELEMENT] & _T_CLOSES_P and not _TRAITS[element] & _T_CLOSES_P:
                around_block = 1
        return 0

    def _limit(self) -> cython.Py_ssize_t:
        return max(-1, self.depth - 1 - DEPTH_LIMIT)
