"""XML without its long attribute values: expat reports the same as for the whole document."""

import hypothesis
import hypothesis.strategies as st
import pytest

from absolve.core.errors import WalkError
from absolve.formats.xml.prolog import _declared, checked

LONG = b"M1,2 L3.5" * 40
DOCTYPE = b'<!DOCTYPE a PUBLIC "x" "y" [<!ENTITY e "v"><!-- c -->]>'


@pytest.mark.parametrize("data", [
    b'<a xmlns:p="%b" p:b=""/>' % LONG, b'<a xmlns:p="%b" xmlns:q="%b" p:b="" q:b=""/>' % (LONG, LONG), b'<a xmlns="%b" b="" b=""/>' % LONG,
    b'<a b="c="%b"/>' % LONG, b'<a b="c="%b d="/>' % LONG, b'<a d="%b"/><!-- ="%b"--" -->' % (LONG, LONG),
    DOCTYPE + b'<a d="%b">&e;</a>' % LONG,
    DOCTYPE.replace(b"]", b' <!ENTITY f "="%b""> ]' % LONG) + b'<a d="%b">&f;</a>' % LONG,
    DOCTYPE.replace(b' "y"', b" '[ ]>'") + b'<a d="%b">&e;</a>' % LONG,
    DOCTYPE.replace(b"]>", b"<!ENTITY f ']>'><!ENTITY g '=\"%b\"'>]>" % LONG) + b'<a d="%b">&e;</a>' % LONG,
    b'<!DOCTYPE a SYSTEM "><!ENTITY"><a d="%b"/>' % LONG,
], ids=lambda data: str(data[:60]))
def test_shortened_xml_gives_the_same_events(data: bytes) -> None:
    assert _outcome(data, shortens=True) == _outcome(data, shortens=False)


_PIECES = [b"<a", b" ", b' b="', b'="', b'"', b"'", b"=", b">", b"/>", b"</a>", b"<a>", LONG, LONG + b" c=", b"-", b"--"]
_PIECES += [b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?p ", b"?>", b"&amp;", b' xmlns:p="', b' p:b="', b' xmlns="', b"\r\n"]


@hypothesis.given(st.lists(st.sampled_from(_PIECES), max_size=12), st.sampled_from([b"", DOCTYPE]))
def test_generated_shortened_xml_gives_the_same_events(pieces: list[bytes], before: bytes) -> None:
    data = before + b"<a>" + b"".join(pieces) + b"</a>"
    assert _outcome(data, shortens=True) == _outcome(data, shortens=False)


def _outcome(data: bytes, *, shortens: bool) -> object:
    try:
        found = checked(data) if shortens else _declared(data, data)
    except WalkError as error:
        return str(error), error.position
    return {name: value for name, value in vars(found).items() if name != "expansion"}  # except the expansion
