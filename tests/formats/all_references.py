"""Find all character references of a value, by testing each `&`."""

from absolve.encodings.codings import reference_at


def references(value: bytes, attribute: bool) -> list[tuple[int, int, bytes]]:
    """Return the spans of the references, and their decoded texts."""
    found: list[tuple[int, int, bytes]] = []
    position = 0
    while (at := value.find(b"&", position)) >= 0:
        position = at + 1
        if reference := reference_at(value, at, len(value), attribute):
            position, text = reference
            found.append((at, position, text))
    return found


def decode(value: bytes, attribute: bool) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for start, end, text in references(value, attribute):
        pieces += (value[position:start], text)
        position = end
    return b"".join((*pieces, value[position:]))
