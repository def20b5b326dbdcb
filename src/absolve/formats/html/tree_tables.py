"""The tables and templates that are open: which parts of a table count where (HTML Standard 13.2.6.4.9 to .15, .22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

from absolve.formats.html import names
from absolve.formats.html.names import ELEMENT_ID, Trait

# Constants are declared so that compiled code does not look them up.
KEPT = cython.declare(cython.int, names.KEPT)
IGNORED = cython.declare(cython.int, names.IGNORED)

_TRAITS = cython.declare(tuple, names.ELEMENT_TRAITS)
_T_HEAD = cython.declare(cython.int, int(Trait.HEAD))
_T_TABLE_PART = cython.declare(cython.int, int(Trait.TABLE_PART))
_cell = int(Trait.CELL)  # no flag: its operators are slow
_CELLS = cython.declare(bytes, bytes(bool(found & _cell) for found in names.ELEMENT_TRAITS))

_CAPTION = cython.declare(cython.int, ELEMENT_ID[b"caption"])
_COL = cython.declare(cython.int, ELEMENT_ID[b"col"])
_COLGROUP = cython.declare(cython.int, ELEMENT_ID[b"colgroup"])
_TD = cython.declare(cython.int, ELEMENT_ID[b"td"])
_TEMPLATE = cython.declare(cython.int, ELEMENT_ID[b"template"])
_TH = cython.declare(cython.int, ELEMENT_ID[b"th"])
_TR = cython.declare(cython.int, ELEMENT_ID[b"tr"])

# Insertion modes of a template, by the first tag in it (13.2.6.4.22, "in template").
_FRESH = cython.declare(cython.int, 0)
_IN_BODY = cython.declare(cython.int, 1)
_IN_TABLE = cython.declare(cython.int, 2)
_IN_TABLE_BODY = cython.declare(cython.int, 3)
_IN_ROW = cython.declare(cython.int, 4)
_IN_COLUMNS = cython.declare(cython.int, 5)


@cython.final
@cython.cclass
class OpenTables:
    """The open tables since the innermost open template, and what those templates hide.

    `size` is how many tables are open, of which `first` are not in the innermost template. `innermost` is the cell or
    caption that is open in the last of them, 0 for none, and `around` has what it was when each of them was opened:
    most tables are not in another, and their cells are then no objects. `mode` is the innermost template's insertion
    mode, that of a body where there is none. `templates` has `first` and the mode around each one, as numbers alone: a
    tuple for each would be one more for the garbage collector to visit.
    """

    def __init__(self) -> None:
        self.around: list[int] = []
        self.templates: list[int] = []
        self.begin()

    @cython.cfunc
    def begin(self) -> cython.int:
        """Let none be open, as before the first tag of a document."""
        self.around.clear()
        self.innermost = 0
        self.size = 0
        self.first = 0
        self.templates.clear()
        self.template_depth = 0
        self.mode = _IN_BODY
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def decides(self) -> cython.bint:
        """Whether the next start tag counts, or changes the mode, by where it stands in a template."""
        return self.mode == _FRESH or self.mode == _IN_COLUMNS

    @cython.cfunc
    def open_template(self) -> cython.int:
        self.templates.append(self.first)
        self.templates.append(self.mode)
        self.first = self.size
        self.mode = _FRESH
        self.template_depth += 1
        return 0

    @cython.cfunc
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

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def drops(self, element: cython.int) -> cython.bint:
        """Whether a template's insertion mode ignores this start tag; the first one in it chooses the mode (.22)."""
        if self.mode == _FRESH and not _TRAITS[element] & _T_HEAD:
            self._enter_mode(element)
        return self.mode == _IN_COLUMNS and element != _COL and element != _TEMPLATE

    @cython.cfunc
    def _enter_mode(self, element: cython.int) -> cython.int:
        """Parts of a table stand in a template as in one."""
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

    @cython.cfunc
    def _open(self) -> cython.int:
        self.around.append(self.innermost)
        self.innermost = 0
        self.size += 1
        return 0

    @cython.cfunc
    def _without_table(self) -> cython.int:
        """The insertion mode of a template that began with a part of a table, while no table in it is open; else 0."""
        if not self.template_depth or self.count() != 1 or self.mode == _IN_BODY:
            return 0
        return self.mode

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def count(self) -> cython.Py_ssize_t:
        """How many tables are open in the innermost template; one that began with a part of a table counts as one."""
        return self.size - self.first

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def total(self) -> cython.Py_ssize_t:
        """How many tables are open in all templates, counted likewise."""
        return self.size

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def any(self) -> cython.bint:
        """Whether a table is open."""
        return self.count() > 0 and not self._without_table()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def between_cells(self) -> cython.bint:
        """Whether what stands here is in a table or its rows, and in no cell (13.2.6.4.9)."""
        return self.count() > 0 and self.innermost == 0

    @cython.cfunc
    def open_table(self) -> cython.int:
        """13.2.6.4.9: a table directly in a table takes its place; in a cell it is nested."""
        if self.between_cells():
            return IGNORED if self._without_table() else KEPT
        self._open()
        return KEPT

    @cython.cfunc
    def close_table(self) -> cython.int:
        """The innermost one, which is open."""
        self.innermost = self.around.pop()
        self.size -= 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def start_part(self, element: cython.int) -> cython.int:
        """Rows, cells and the like count only in a table (13.2.6.4.7), or where a template begins with one."""
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

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def end_part(self, element: cython.int) -> cython.bint:
        """Whether this end tag ends the open cell."""
        if not self.count() or self.innermost == 0 or not self.ends_cell(self.innermost, element):
            return False
        self.innermost = 0
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def cell(self) -> cython.int:
        """The cell or caption that is open in the innermost table, 0 for none."""
        return self.innermost if self.count() else 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def ends_cell(self, cell: cython.int, element: cython.int) -> cython.bint:
        """13.2.6.4.11 and .15; that a row group of the name is open is not looked at."""
        mode: cython.int = self._without_table()
        if mode == _IN_ROW and not _is_cell(element):
            return False
        if mode == _IN_TABLE_BODY and not (_is_cell(element) or element == _TR):
            return False
        if cell == _CAPTION or element == _TD or element == _TH:
            return cell == element
        return element != _CAPTION and element != _COL and element != _COLGROUP


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _is_cell(element: cython.int) -> cython.bint:
    """Whether an element is a cell of a table, or its caption."""
    cells: cython.p_const_uchar = _CELLS
    return cells[element] != 0
