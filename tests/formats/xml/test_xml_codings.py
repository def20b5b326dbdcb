"""Character data with CDATA sections, comments and processing instructions."""

import re
from functools import partial

from hypothesis import example, given, settings
from hypothesis import strategies as st

from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Pieces
from absolve.formats.xml.codings import CData, CharacterData, pieces

CLOSED = re.compile(rb"<!\[CDATA\[(.*?)\]\]>|<!--.*?-->|<\?.*?\?>", re.DOTALL)
PIECES = st.sampled_from([b"<![CDATA[", b"]]>", b"]", b">", b"<!--", b"-->", b"-", b"<?", b"?>", b"?", b"<", b"!", b"a", b"\n"])


def decoded(raw: bytes) -> bytes:
    return Pieces(partial(pieces, text=CharacterData(UTF_8), section=CData(UTF_8))).decode(raw)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=14).map(b"".join))
@example(b"<!--<?--><?>?>")
@example(b"a<!---->b<???>c<![CDATA[]]]>d")
def test_markup_ends_at_the_first_mark_behind_its_start(raw: bytes) -> None:
    assert decoded(raw) == CLOSED.sub(lambda found: found[1] or b"", raw)
