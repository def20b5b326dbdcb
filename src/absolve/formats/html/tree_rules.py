"""Simulate the parts of tree construction on which links depend, without a tree (HTML Standard 13.2.6).

In: start tags, end tags and text, in order. Out: for each start tag its namespace and effect (names.py: KEPT, IGNORED,
MERGED or a text mode). Tokenization and links depend on three results of tree construction: the namespace of a tag
(text modes and CDATA sections depend on it), the start tags that the tree builder drops (a second form inside a form, a
cell outside any table), and the elements inside a template. A few counters represent each; a stack exists only inside
SVG and MathML. A comment marks each guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.html import names, open_elements
from absolve.formats.html.names import ELEMENT_ID, Trait
from absolve.formats.html.open_elements import OpenTables, Stack

if TYPE_CHECKING:
    import cython


# Numbers that tree_rules.pxd declares, so that compiled code does not look them up.
HTML = names.HTML
SVG = names.SVG
MATHML = names.MATHML
KEPT = names.KEPT
IGNORED = names.IGNORED
MERGED = names.MERGED
RCDATA = names.RCDATA
RAWTEXT = names.RAWTEXT
SCRIPT_DATA = names.SCRIPT_DATA
PLAINTEXT = names.PLAINTEXT

_NUMBERS = 256
_ZEROS = [0] * _NUMBERS
_TRAITS = names.ELEMENT_TRAITS
_T_RCDATA = int(Trait.RCDATA)
_T_RAWTEXT = int(Trait.RAWTEXT)
_T_VOID = int(Trait.VOID)
_T_BREAKOUT = int(Trait.BREAKOUT)
_T_NOT_FRAMESET = int(Trait.NOT_FRAMESET)
_T_TABLE_PART = int(Trait.TABLE_PART)
_T_CLOSES_P = int(Trait.CLOSES_P)
_T_HEAD = int(Trait.HEAD)

_BODY = ELEMENT_ID[b"body"]
_FONT = ELEMENT_ID[b"font"]
_FORM = ELEMENT_ID[b"form"]
_FRAME = ELEMENT_ID[b"frame"]
_FRAMESET = ELEMENT_ID[b"frameset"]
_HEAD = ELEMENT_ID[b"head"]
_HTML = ELEMENT_ID[b"html"]
_INPUT = ELEMENT_ID[b"input"]
_MATH = ELEMENT_ID[b"math"]
_NOFRAMES = ELEMENT_ID[b"noframes"]
_NOSCRIPT = ELEMENT_ID[b"noscript"]
_P = ELEMENT_ID[b"p"]
_BR = ELEMENT_ID[b"br"]
_PLAINTEXT = ELEMENT_ID[b"plaintext"]
_SCRIPT = ELEMENT_ID[b"script"]
_SELECT = ELEMENT_ID[b"select"]
_SVG = ELEMENT_ID[b"svg"]
_TABLE = ELEMENT_ID[b"table"]
_TD = ELEMENT_ID[b"td"]
_TEMPLATE = ELEMENT_ID[b"template"]


class Tree:
    """The state of tree construction after the tags passed to `start` and `end`.

    `namespace` is from the last start tag, `foreign.namespace` from the current node; if the latter is not HTML, CDATA
    sections exist and text modes do not. While `every` is true, every start tag must be passed, else only those with
    certain traits. `started` and `ended` count the HTML tags outside foreign content by element number; the tokenizer
    counts those that it does not pass. `guessed`: a browser may parse the document differently, because the state that
    decides is not tracked.
    """

    def __init__(self) -> None:
        self.tables = OpenTables()
        self.foreign = Stack()
        self.started = _ZEROS.copy()
        self.ended = _ZEROS.copy()
        self.begin()

    def begin(self) -> cython.int:
        """Reset to the state before the first tag of a document."""
        element: cython.int
        self.frameset_ok = True  # 13.2.4.5 the frameset-ok flag
        self.tables.begin()
        self.foreign.begin()
        self.namespace = HTML
        self.every = True
        self.select_open = False
        self.select_tables = self.select_templates = 0  # the open tables and templates around it
        self.form_open = False  # 13.2.4.4 the form element pointer
        self.head_open = True  # no head element so far, explicit or implied
        self.frameset_depth = 0
        self.after_frameset = False
        self.guessed = False
        for element in range(_NUMBERS):
            self.started[element] = self.ended[element] = 0
        return 0

    def text(self) -> None:
        """Process a character that is neither white space nor NUL, outside any text mode."""
        self.frameset_ok = False
        if not self.foreign.depth:
            self.head_open = False
            self._watch()

    def modes(self) -> tuple:  # type: ignore[type-arg]
        """Return the state that affects the next tags; a noscript element does not change it if scripting is on."""
        return self.foreign.depth, self.tables.size, self.tables.template_depth, self.select_open

    def _watch(self) -> cython.int:
        """Set `every`: whether the next tag is relevant with any name."""
        framed: cython.bint = self.frameset_depth > 0 or self.after_frameset
        self.every = self.foreign.depth > 0 or self.head_open or framed or self.tables.mode <= open_elements.DECISIVE
        return 0

    def start(self, element: cython.int, name: bytes, self_closing: cython.bint, decided: cython.bint) -> cython.int:
        """Process a start tag and return its effect: KEPT, IGNORED, MERGED or a text mode.

        `name` is its lower-case name, needed only in foreign content for names without a number. `decided` is the
        condition on its attributes: a font element with color, face or size, an annotation-xml element with an HTML
        encoding, a hidden input element.
        """
        answer: cython.int
        self.namespace = HTML
        if self.foreign.depth:
            answer = self._foreign_start(element, name, self_closing, decided)
        else:
            answer = self._html_start(element, self_closing, decided)
        self._watch()
        return answer

    def _html_start(self, element: cython.int, self_closing: cython.bint, decided: cython.bint) -> cython.int:
        """Process a start tag by the insertion modes of HTML content (13.2.6.4), and return its effect, as `start`.

        The first rule that applies decides. `decided`: it is an input of the type hidden.
        """
        traits: cython.int = _TRAITS[element]
        if self.frameset_depth or self.after_frameset:  # 13.2.6.4.20 and .21: the rest is dropped
            if element == _FRAMESET and self.frameset_depth:
                self.frameset_depth += 1
                return KEPT
            if element == _NOFRAMES:
                return RAWTEXT
            if element == _HTML:
                return MERGED
            return KEPT if element == _FRAME and self.frameset_depth else IGNORED
        if self.tables.mode <= open_elements.DECISIVE and self.tables.drops(element):
            return IGNORED
        if element == _HTML:
            return MERGED if not self.tables.template_depth else IGNORED
        if element == _HEAD:
            kept = self.head_open
            self.head_open = False
            return KEPT if kept else IGNORED
        self.head_open = False
        if element == _FRAMESET:
            self.guessed |= self.started[_NOSCRIPT] > 0  # scripting decides whether its text prevents a frameset
            if not self.frameset_ok or self.tables.template_depth:
                return IGNORED
            self.foreign.pop_to(0)
            self.frameset_depth = 1
            self.guessed |= self._has_body()
            return KEPT
        if traits & _T_NOT_FRAMESET and not (element == _INPUT and decided):
            self.frameset_ok = False
        if element == _BODY:
            return IGNORED if self.tables.template_depth else MERGED
        if element == _FORM:
            if self.tables.template_depth:
                return IGNORED if self.tables.between_cells() else KEPT  # 13.2.6.4.9
            if self.form_open:
                return IGNORED
            self.form_open = True
            return KEPT
        if element == _FRAME:
            self.started[_BODY] += 1  # 13.2.6.4.6: a dropped frame also implies a body
            return IGNORED
        if element == _TABLE:
            return self.tables.open_table()
        if traits & _T_TABLE_PART:
            if self.tables.start_part(element) == IGNORED:
                return IGNORED
            if self.tables.template_depth:
                self.guessed |= self.select_open  # the order of select and template is not tracked
            self._ends_select()
            return KEPT
        if element == _TEMPLATE:
            self.tables.open_template()
            return KEPT
        if element == _SVG or element == _MATH:
            self.namespace = SVG if element == _SVG else MATHML
            self.started[element] += 1  # outside foreign content it is never open
            self.ended[element] += 1
            if not self_closing:
                self.foreign.push(self.namespace, element, b"", False)
            return KEPT
        if element == _SELECT:  # inside another one, it closes that; of the scope's limits only tables are checked
            self.guessed |= self.select_open
            if self._ends_select():
                return IGNORED
            self.select_open = True
            self.select_tables = self.tables.size
            self.select_templates = self.tables.template_depth
            return KEPT
        if element == _INPUT:
            self._ends_select()
        if element == _NOSCRIPT and self.started[element] > self.ended[element] and not self.started[_BODY]:
            self.guessed = True  # ignored in a head; the end of a head without a body tag is not tracked
        if traits & _T_RCDATA:
            return RCDATA
        if traits & _T_RAWTEXT:
            return RAWTEXT
        if element == _SCRIPT:
            return SCRIPT_DATA
        return PLAINTEXT if element == _PLAINTEXT else KEPT

    def _has_body(self) -> cython.bint:
        """Return whether elements before a frameset implied a body, which the frameset removes from the tree."""
        element: cython.int
        for element in range(len(_TRAITS)):
            if self.started[element] and not _TRAITS[element] & _T_HEAD and element != _HTML and element != _HEAD:
                return True
        return False

    def end(self, element: cython.int, name: bytes) -> cython.int:
        """Process an end tag; `name` as in `start`."""
        if self.foreign.depth:
            self._foreign_end(element, name)
        else:
            self._html_end(element)
        return self._watch()

    def _foreign_end(self, element: cython.int, name: bytes) -> cython.int:
        """Process an end tag in foreign content (13.2.6.5).

        One without a match there is processed by the insertion mode, and may close elements around the foreign content.
        """
        depth: cython.Py_ssize_t
        foreign: cython.bint = self.foreign.namespace != HTML
        if foreign and (element == _P or element == _BR):
            self.foreign.break_out()
            if not self.foreign.depth:
                return self._html_end(element)
            foreign = False
        elif foreign:
            depth = self.foreign.find(element, name)
            if depth >= 0:
                return self.foreign.pop_to(depth)
        if element == _TEMPLATE or element == _TABLE:
            if not (self.tables.template_depth if element == _TEMPLATE else self.tables.any()):
                return 0
            self.foreign.pop_to(max(0, self.foreign.find_html(element)))
            return self._html_end(element)
        if _TRAITS[element] & _T_TABLE_PART:
            if self._is_around_table():
                return self._foreign_part_end(element)
            self._html_end(element)
        elif foreign and self._encloses(element, name) and not self.foreign.is_bounded():
            self.foreign.pop_to(0)
            return self._html_end(element)
        elif element == _FORM:
            self._html_end(element)
        if self.foreign.close_html(element, name):
            self.guessed = True
        return 0

    def _foreign_part_end(self, element: cython.int) -> cython.int:
        """Process the end tag of a part of the table around the svg or math element (13.2.6.4.9 to .15).

        It also closes that element. This is a guess where no cell is open: rows and row groups are only counted.
        """
        ends: cython.bint
        cell: cython.int = self.tables.cell()
        ends = self.tables.ends_cell(cell or _TD, element)
        if not cell:
            ends = ends and element != _TD and self.started[element] > self.ended[element]
            self.guessed |= ends
        if ends:
            self.foreign.pop_to(0)
            return self._html_end(element)
        return 0

    def _encloses(self, element: cython.int, name: bytes) -> cython.bint:
        """Return whether an unmatched end tag closes an HTML element around the svg or math element, and so that too.

        This is a guess: outside foreign content elements are only counted, with one counter for all names without a
        number. Of these, a name with a hyphen is assumed to be a custom element around, any other a name of SVG or
        MathML.
        """
        if _TRAITS[element] & _T_VOID or element == _FORM:
            return False
        if element == _BODY or element == _HTML or element == _HEAD or self.started[element] <= self.ended[element]:
            return False
        self.guessed = True
        return element > 0 or 45 in name

    def _html_end(self, element: cython.int) -> cython.int:
        traits: cython.int = _TRAITS[element]
        if self.started[element] > self.ended[element]:
            self.ended[element] += 1
        if element == _FORM:
            if not self.tables.template_depth:
                self.form_open = False
        elif element == _TABLE:
            if self.tables.any():
                self._ends_select()
                self.tables.close_table()
        elif element == _SELECT:
            self._ends_select()
        elif element == _TEMPLATE:
            self.tables.close_template()
            if self.select_templates > self.tables.template_depth:
                self.select_open = False
        elif element == _FRAMESET:
            if self.frameset_depth:
                self.frameset_depth -= 1
                self.after_frameset = not self.frameset_depth
        elif traits & _T_TABLE_PART and self.tables.end_part(element):
            self._ends_select()
        elif element == _BR or element == _HEAD or element == _BODY or element == _HTML:  # 13.2.6.4.3: imply a head
            self.head_open = False
            if element == _BR:  # processed as a start tag
                self.frameset_ok = False
            elif element != _HEAD and (self.started[_BODY] or self.started[_NOSCRIPT] <= self.ended[_NOSCRIPT]):
                self.started[_BODY] += 1  # 13.2.6.4.6: imply a body; 13.2.6.4.5: not in the noscript of a head
        return 0

    def _ends_select(self) -> cython.bint:
        """Close the open select element unless a table or template is open in it; return whether it was closed."""
        if (
            not self.select_open
            or self.select_tables != self.tables.size
            or self.select_templates != self.tables.template_depth
        ):
            return False
        self.select_open = False
        return True

    def _foreign_start(
        self, element: cython.int, name: bytes, self_closing: cython.bint, decided: cython.bint
    ) -> cython.int:
        """Process a start tag in foreign content (13.2.6.5), or in HTML content inside it."""
        if not self.foreign.takes_html(element):
            if not (_TRAITS[element] & _T_BREAKOUT or (element == _FONT and decided)):
                self.namespace = self.foreign.namespace
                if not self_closing:
                    self.foreign.push(self.namespace, element, name, decided)
                return KEPT
            self.foreign.break_out()
        if _TRAITS[element] & _T_TABLE_PART and self.foreign.depth and self._is_around_table():
            self.foreign.pop_to(0)  # 13.2.6.4.15: it closes the cell
        if not self.foreign.depth:
            return self._html_start(element, self_closing, decided)
        if _TRAITS[element] & _T_CLOSES_P and self.foreign.close_p() and element == _TABLE:
            self.guessed = True  # in quirks mode the p element remains open; the mode is not tracked
        answer: cython.int = self._html_start(element, self_closing, decided)
        if self.namespace == HTML and answer == KEPT and not _TRAITS[element] & _T_VOID:
            self.foreign.push(HTML, element, name, False)
        return answer

    def _is_around_table(self) -> cython.bint:
        """Return whether a table is open around the foreign element, and not in it."""
        return self.tables.count() > 0 and not self.foreign.has_table()
