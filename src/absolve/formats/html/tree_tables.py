"""The open tables and templates: where parts of a table are kept or dropped (HTML Standard 13.2.6.4.9 to .15, .22).

In: start and end tags of tables, their parts and templates. Out: whether the tree builder keeps a part (KEPT) or drops
it (IGNORED), and the counts of open tables and templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.html import names
from absolve.formats.html.names import ELEMENT_ID, Trait

if TYPE_CHECKING:
    import cython


# Numbers that tree_tables.pxd declares, so that compiled code does not look them up.
KEPT = names.KEPT
IGNORED = names.IGNORED

_TRAITS = names.ELEMENT_TRAITS
_T_HEAD = int(Trait.HEAD)
_T_TABLE_PART = int(Trait.TABLE_PART)
_cell = int(Trait.CELL)  # operators of enum flags are slow
_CELLS = bytes(bool(found & _cell) for found in names.ELEMENT_TRAITS)

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

    def total(self) -> cython.Py_ssize_t:
        """Return the number of open tables in all templates, including implied ones."""
        return self.size

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
        if _is_cell(element):
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
        if mode == _IN_ROW and not _is_cell(element):
            return False
        if mode == _IN_TABLE_BODY and not (_is_cell(element) or element == _TR):
            return False
        if cell == _CAPTION or element == _TD or element == _TH:
            return cell == element
        return element != _CAPTION and element != _COL and element != _COLGROUP


def _is_cell(element: cython.int) -> cython.bint:
    """Return whether an element is a cell of a table, or its caption."""
    cells: cython.p_const_uchar = _CELLS
    return cells[element] != 0
