"""Element and attribute names as small numbers, with what each means to tree construction: data for the scanner.

A number is an index into the name tables; 0 is every name that absolve has nothing to do with. The tables are plain
`bytes`, so that compiled code reads them without making objects.
"""

from __future__ import annotations

import enum
import sys

from absolve.formats.html.link_tables import ATTRIBUTE_NAMES, ELEMENT_NAMES


class Trait(enum.IntFlag):
    """What tree construction does with an element of this name (HTML Standard 13.2.6)."""

    RCDATA = 1
    RAWTEXT = 2
    VOID = 4
    BREAKOUT = 8  # 13.2.6.5: leaves foreign content
    NOT_FRAMESET = 16  # 13.2.6.4.7: sets the frameset-ok flag to "not ok", which matters while it is "ok"
    TABLE_PART = 32  # ignored outside a table
    CELL = 64
    CLOSES_P = 128
    SVG_POINT = 256  # HTML integration points of SVG
    MATHML_POINT = 512
    SCOPE = 4096  # 13.2.4.2: no end tag of what is around it reaches through it
    HEAD = 8192  # 13.2.6.4.22: handled as in a head, and leaves the insertion mode of a template as it is
    RELEVANT = 1024  # its start tag changes the state outside foreign content
    RELEVANT_END = 2048  # and so does its end tag


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
# Known to keep the stack of inline SVG free of byte strings: the most frequent elements of icons.
_FREQUENT = "circle defs ellipse g line lineargradient path polygon polyline rect stop symbol text tspan use"
# Attributes that hold no reference and that a place's reading depends on.
_AUXILIARY = "as content encoding http-equiv itemprop name property rel shadowrootmode type color face size"

# What a byte may be inside a tag, one bit each: CLASSES has them for every byte.
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

# What the scanner reports.
END = 0  # nothing more
TAG = 1  # a start tag that may carry references
COMMENT = 2

# How a value is written, beside the two quote characters themselves.
ABSENT = 0  # no value at all: it starts and ends where the attribute's name ends
UNQUOTED = 1

# Namespaces.
HTML = 0
SVG = 1
MATHML = 2

# What becomes of a start tag: one of the first three, or a text mode that begins after it (13.2.6.2).
KEPT = 0
IGNORED = 1  # the tree builder drops the token
MERGED = 2  # a second html or body: only attributes that the element lacks are taken over
RCDATA = 3
RAWTEXT = 4
SCRIPT_DATA = 5
PLAINTEXT = 6

# The scanner's interest table: a row for every element number, then one for SVG and one for MathML; a column for every
# attribute number.
ATTRIBUTES = 256

NAME_CELL = 32  # bytes a name takes in the name tables: its length, then the name
WORD = 8  # bytes of a word: those of a name in lower case behind a 1, or its last ones
HASH_SIZE = 1024
HASH_FACTOR = 0x9E37_79B9_7F4A_7C15  # 2 ** 64 divided by the golden ratio: the highest bits depend on all
HASH_SHIFT = 54
WORD_MASK = (1 << 8 * WORD) - 1  # cuts words where integers have no end
LOWER = bytes(range(256)).lower()


def _ids(names: set[str]) -> dict[bytes, int]:
    usable = sorted(name.encode() for name in names if len(name) < NAME_CELL)
    return {name: number for number, name in enumerate(usable, start=1)}


ELEMENT_ID = _ids({*ELEMENT_NAMES, *f"{' '.join(_TRAITS.values())} {_ALSO} {_FREQUENT}".split()})
ATTRIBUTE_ID = _ids({*ATTRIBUTE_NAMES, *_AUXILIARY.split()})
SVG_ROW = len(ELEMENT_ID) + 1
MATHML_ROW = SVG_ROW + 1
ROWS = MATHML_ROW + 1


def _hash_tables(ids: dict[bytes, int]) -> tuple[bytes, bytes]:
    """Open addressing: slots hold a number or 0, then come the words by number; cells hold its length and name."""
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
        value = int(trait)  # no flags: their operators are slow
        for name in names.split():
            traits[ELEMENT_ID[name.encode()]] |= value
    told = int(Trait.RCDATA | Trait.RAWTEXT | Trait.TABLE_PART | Trait.RELEVANT)
    ends = int(Trait.TABLE_PART | Trait.RELEVANT_END)
    for number, found in enumerate(traits):
        if found & told:
            traits[number] |= int(Trait.RELEVANT)
        if found & ends:
            traits[number] |= int(Trait.RELEVANT_END)
    return traits


ELEMENT_TRAITS: tuple[int, ...] = tuple(_traits())
