"""Element and attribute names as small numbers, with their role in tree construction: tables for the tokenizer.

A number is an index into the name tables; 0 is every name without relevance for links or tree construction. The tables
are plain `bytes`, so that compiled code reads them without creating objects. `Trait` groups the elements by the rules
of the HTML Standard 13.2.6.
"""

from __future__ import annotations

import sys

from absolve.formats.html.link_tables import ATTRIBUTE_NAMES, ELEMENT_NAMES


class Trait:
    """Flags of an element name for tree construction (HTML Standard 13.2.6); importing an enum of them takes 1 ms."""

    RCDATA = 1
    RAWTEXT = 2
    VOID = 4
    BREAKOUT = 8  # 13.2.6.5: leaves foreign content
    NOT_FRAMESET = 16  # 13.2.6.4.7: sets the frameset-ok flag to "not ok"
    TABLE_PART = 32  # ignored outside a table
    CELL = 64
    CLOSES_P = 128
    SVG_POINT = 256  # HTML integration points of SVG
    MATHML_POINT = 512
    SCOPE = 4096  # 13.2.4.2: limits a scope: end tags inside do not close elements around it
    HEAD = 8192  # 13.2.6.4.22: processed as in a head, without effect on the insertion mode of a template
    RELEVANT = 1024  # its start tag changes the state outside foreign content
    RELEVANT_END = 2048  # its end tag changes the state outside foreign content


_TRAITS = {
    Trait.RCDATA: "textarea title",
    Trait.RAWTEXT: "iframe noembed noframes style xmp",
    Trait.VOID: "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track"
    " wbr",
    Trait.BREAKOUT: "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    " listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
    Trait.NOT_FRAMESET: "applet area body br button dd dt embed hr iframe image img input keygen li listing marquee"
    " object pre select table template textarea wbr xmp",
    Trait.TABLE_PART: "caption col colgroup tbody td tfoot th thead tr",
    Trait.CELL: "caption td th",
    Trait.CLOSES_P: "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary"
    " table ul xmp",
    Trait.SVG_POINT: "desc foreignobject title",
    Trait.MATHML_POINT: "mi mn mo ms mtext",
    Trait.SCOPE: "applet caption marquee object select table td template th",
    Trait.HEAD: "base basefont bgsound link meta noframes script style template title",
    Trait.RELEVANT: "body form frame frameset head html input math noscript plaintext script select svg table template",
    Trait.RELEVANT_END: "body br form frameset head html select table template",
}
_ALSO = "annotation-xml font malignmark mglyph"
# The most frequent elements of icons: with a number, they need no byte strings on the stack of foreign content.
_FREQUENT = "circle defs ellipse g line lineargradient path polygon polyline rect stop symbol text tspan use"
# Attributes without references on which the interpretation of other attributes depends.
_AUXILIARY = (
    "as attributename color content encoding face http-equiv itemprop name property rel shadowrootmode size type"
    " valuetype"
)

# Classes of bytes inside a tag, one bit each; CLASSES is a table by byte.
SPACE = 1  # tab, line feed, form feed, carriage return, space
LETTER = 2
NAME_END = 4  # white space, / or >
ATTRIBUTE_NAME_END = 8  # the same, or =
CLASSES = bytes(
    (byte in b"\t\n\f\r ") * SPACE
    | (bytes((byte,)).isalpha() and byte < 128) * LETTER
    | (byte in b"\t\n\f\r />") * NAME_END
    | (byte in b"\t\n\f\r />=") * ATTRIBUTE_NAME_END
    for byte in range(256)
)

LOWER = bytes(range(256)).lower()
# The same for the bytes of a name; 0 for a byte that ends it. NUL, which is in no name here, is 1.
TAG_NAME, ATTRIBUTE_NAME = (
    bytes(0 if classes & end else lower or 1 for lower, classes in zip(LOWER, CLASSES, strict=True))
    for end in (NAME_END, ATTRIBUTE_NAME_END)
)

# Kinds of tokens that the tokenizer reports.
END = 0  # the end of the document
TAG = 1  # a start tag that may have references
COMMENT = 2

# Quoting of a value.
ABSENT = 0  # no value: its span is empty, at the end of the attribute's name
UNQUOTED = 1
DOUBLE = 34  # the quote characters themselves
SINGLE = 39

# Namespaces.
HTML = 0
SVG = 1
MATHML = 2

# Effects of a start tag in the tree: one of the first three, or a text mode that begins after it (13.2.6.2).
KEPT = 0
IGNORED = 1  # the tree builder drops the token
MERGED = 2  # a second html or body: only attributes that the element lacks are added to it
RCDATA = 3
RAWTEXT = 4
SCRIPT_DATA = 5
PLAINTEXT = 6

# The interest table of the tokenizer: a row for every element number, then one for SVG and one for MathML; a column for
# every attribute number.
ATTRIBUTES = 256

NAME_CELL = 32  # bytes per name in the name tables: its length, then the name
WORD = 8  # bytes of a word: a byte 1 and the name in lower case; for long names, its last eight bytes
HASH_SIZE = 1024
HASH_FACTOR = 0x9E37_79B9_7F4A_7C15  # Fibonacci hashing: 2 ** 64 / golden ratio; the high bits depend on all bits
HASH_SHIFT = 54
WORD_MASK = (1 << 8 * WORD) - 1  # truncates words in interpreted code, with its unbounded integers


def _ids(names: set[str]) -> dict[bytes, int]:
    usable = sorted(name.encode() for name in names if len(name) < NAME_CELL)
    return {name: number for number, name in enumerate(usable, start=1)}


ELEMENT_ID = _ids({*ELEMENT_NAMES, *f"{' '.join(_TRAITS.values())} {_ALSO} {_FREQUENT}".split()})
ATTRIBUTE_ID = _ids({*ATTRIBUTE_NAMES, *_AUXILIARY.split()})
SVG_ROW = len(ELEMENT_ID) + 1
MATHML_ROW = SVG_ROW + 1
ROWS = MATHML_ROW + 1


def _hash_tables(ids: dict[bytes, int]) -> tuple[bytes, bytes]:
    """Return a hash table with open addressing: slots (a number or 0), then words by number; and the name cells."""
    slots = bytearray(HASH_SIZE + WORD * (len(ids) + 1))
    cells = bytearray(NAME_CELL * (len(ids) + 1))
    for name, number in ids.items():
        word = int.from_bytes((b"\1" + name)[-WORD:], "big")
        at = (word * HASH_FACTOR & WORD_MASK) >> HASH_SHIFT
        while slots[at]:
            at = (at + 1) % HASH_SIZE
        slots[at] = number
        slots[HASH_SIZE + number * WORD : HASH_SIZE + (number + 1) * WORD] = word.to_bytes(WORD, sys.byteorder)
        cells[number * NAME_CELL : number * NAME_CELL + 1 + len(name)] = bytes([len(name)]) + name
    return bytes(slots), bytes(cells)


ELEMENT_SLOTS, ELEMENT_CELLS = _hash_tables(ELEMENT_ID)
ATTRIBUTE_SLOTS, ATTRIBUTE_CELLS = _hash_tables(ATTRIBUTE_ID)


def _traits() -> list[int]:
    traits = [0] * (len(ELEMENT_ID) + 1)
    for trait, names in _TRAITS.items():
        for name in names.split():
            traits[ELEMENT_ID[name.encode()]] |= trait
    decisive = Trait.RCDATA | Trait.RAWTEXT | Trait.TABLE_PART | Trait.RELEVANT
    ends = Trait.TABLE_PART | Trait.RELEVANT_END
    for number, found in enumerate(traits):
        if found & decisive:
            traits[number] |= Trait.RELEVANT
        if found & ends:
            traits[number] |= Trait.RELEVANT_END
    return traits


ELEMENT_TRAITS: tuple[int, ...] = tuple(_traits())
