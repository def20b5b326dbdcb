"""Simulated tree construction: which start tags reach the tree, in which namespace, and which cases are uncertain.

html5lib is the judge; the start tags say what it finds: `o` reaches the tree, `x` does not. Its suite is in
`test_html5lib_tests.py`.
"""

import fuzz_html
import pytest

from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

NAMESPACES = (b"html", b"svg", b"math")


def scanned(document: bytes) -> Tokenizer:
    """Return a scanner at the end of the document."""
    scanner = Tokenizer(document, bytes(ROWS * ATTRIBUTES))
    while scanner.next() != names.END:
        pass
    return scanner


RULES = {
    "a head tag counts only before the head exists": [
        b"<head o><head x>", b"<html><head o>", b"<p><head x>", b"x<head x>", b"<<head x>", b"</head><head x>", b"</body><head x>",
        b"</br><head x>", b"</p><head o>", b"<!-- c --> <head o>",
    ],
    "a form in a form is ignored": [
        b"<form o><form x></form><form o>", b"<form o><div></form><form o>", b"<table><form o><form x></table>",
        b"<template><form o><form o></template>", b"<form o><template><form o></template><form x>",
        b"<template><table><form x><tr><td><form o></template>", b"<template><td o><caption x><form x></template>",
        b"<template><td></tr><form o></template>",
    ],
    "table parts count only in a table": [
        b"<td x><tr x><tbody x><col x><caption x><colgroup x><thead x><tfoot x><th x>",
        b"<table><td o><th o><tr o><tbody o><col o><caption o></table><td x>", b"<table><td><table><td></table><td o></table><td x>",
        b"<table><table></table><td x>", b"<table><div><table></table></div><td x>", b"<table><caption></td></tr><table o></table><td o>",
        b"<table><td></col></caption><table o></table><td o>", b"<table><td></th><table></table><td o>",
    ],
    "the first tag in a template decides which tags count": [
        b"<template><td o><th o><tr x><tbody x><caption x></template>", b"<template><tr o><td o><tr o><tbody x><caption x></template>",
        b"<template><tbody o><tr o><td o><caption o><col o></template>",
        b"<template><col o><div x><a x><col o><template o></template></template><div o>", b"<template><div><td x></template>",
        b"<template><link><meta><script></script><title></title><td o></template>", b"<template><textarea></textarea><td x></template>",
        b"<template>x<td o></template>", b"<template></p><td o></template>", b"<template><html x><td x></template>",
        b"<template><head x><td x></template>", b"<template><body x><td x></template>", b"<template><tr><table x></template>",
        b"<template><tr><td><table o><tr o></table><tr o></template>", b"<table><template><tr o></template><tr o>",
        b"<table><td><template></table><td o></template><td o>", b"<template><frameset x></template>",
        b"<template><svg></template><colgroup x>",
    ],
    "a frameset counts only before other content": [
        b"<frameset o><frame o><frameset o></frameset><p x><base x></frameset><frame x><a x>", b"<head></head><frameset o>",
        b"<title>x</title><frameset o>", b"<body><frameset x><frame x>", b"x<frameset x>", b"<svg>x</svg><frameset x>",
        b"<input><frameset x>", b"<img><frameset x>", b"<br><frameset x>", b"</br><frameset x>", b"<frame x>",
        b"<frameset><noframes><a o></noframes></frameset>", b"&#xa<frameset o>", b"&#32; &Tab;&NewLine;&#13;&#x0C;<frameset o>",
        b"&nbsp;<frameset x>", b"&#65;<frameset x>", b"&Tab<frameset x>", b"&<frameset x>", b"<svg><![CDATA[&#32;]]></svg><frameset x>",
        b"<svg><![CDATA[x]]></svg><frameset x>",
    ],
    "a select in a select ends it": [
        b"<select o><option o><div o><a o><input><select o>", b"<table><td><select></td><td><select o>",
        b"<template><select></template><select o>", b"<template><select></template><template><select o>",
        b"<table><template><select><td></td></template></table><select o>",
    ],
    "foreign content has its namespace": [
        b"<svg svg><a svg><title svg><a html></a></title><a svg></svg><a html>", b"<svg/><a html>", b"<svg><g/><a svg>",
        b"<svg><desc><div html><svg svg></svg><a html></div></desc><a svg>",
        b"<svg><foreignObject><p html><a html></foreignObject><a html>", b"<svg><foreignobject></foreignobject><a svg>",
        b"<svg><p html><a html>", b"<svg><g><desc><g html><p html>", b"<svg><font svg><font color=x html><a html>",
        b"<svg><font size html>", b"<svg></p><a html>", b"<svg></br><a html>", b"<svg><desc></p><a html></a></desc><a svg>",
        b"<svg><math svg><mi svg>", b"<svg><script svg></script><style svg><a svg></style>",
        b"<math math><mi math><a html></a></mi><a math>", b"<math><mi><mglyph math><malignmark math></mi>", b"<math><mi></p><a html>",
        b"<math><annotation-xml><svg svg><a svg></svg><a math>", b"<math><annotation-xml encoding=text/HTML><a html>",
        b"<math><annotation-xml encoding='application/xhtml+xml'><a html>", b"<math><annotation-xml encoding=text/xml><a math>",
        b"<svg><annotation-xml encoding=text/html><a svg>", b"<svg><image svg></svg><image html>", b"<svg><one><title></other><a html>",
        b"<svg><one><title></one><a svg>",
    ],
    "end tags of outer elements end foreign content": [
        b"<table><td><svg></td><a html>", b"<table><td><svg><td svg><desc><td html><a html>", b"<table><td><svg></table><a html>",
        b"<svg><desc><div><math></div><a html>", b"<template><svg><template><desc><b></template><a html>",
        b"<table><td><svg><desc><b></table><a html>", b"<table><td><svg><desc></tr><tr html>",
        b"<svg><desc><table><td></td></table></desc><a svg>",
    ],
    "unmatched end tags leave foreign content open": [
        b"<svg></a><a svg>", b"<a></a><svg></a><a svg>", b"<svg></nothing></no-thing><a svg>", b"<form><svg></form><a svg>",
        b"<body><svg></body></html><a svg>", b"<table><svg></colgroup></col></td><a svg>", b"<svg><desc><div></svg><a html>",
        b"<svg><template></template><a svg>",
    ],
}


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_of_html5lib_is_simulated(rule: str) -> None:
    for document in RULES[rule]:
        assert not fuzz_html.guessed(document), document
        fuzz_html.check(document)


GUESSED = [  # each start tag states its fate: `o` reaches the tree, `x` does not; `html` and `svg` are namespaces
    b"<input type=HIDDEN><frameset o>", b"<p> <frameset o>", b"<p>\0<frameset o>", b"<svg>\0</svg><frameset o>",
    b"<svg><![CDATA[ \n]]></svg><frameset o>", b"<svg>&#32;</svg><frameset o>", b"<select o><select x><select o></select><select o>",
    b"<table><select></tr><select x>", b"<select><table></table><select x>", b"<select><table><td></td></table><select x>",
    b"<select><table><td><input></table><select x>", b"<a><svg></a><a html>", b"<g><svg></g><a html>",
    b"<my-icon><svg></my-icon><a html>", b"<a><svg><desc></a><a html></a></desc><a svg>",
]


@pytest.mark.parametrize("document", GUESSED)
def test_a_guess_about_a_start_tag_is_right_in_usual_documents(document: bytes) -> None:
    assert fuzz_html.guessed(document)
    record: list[tuple[int, int, int, int, int]] = []
    scanner = Tokenizer(document, bytes(ROWS * ATTRIBUTES), record)
    while (kind := scanner.next()) != names.END:
        if kind != names.TAG:
            continue
        for start, end, *_ in record:
            claim = document[start:end]
            if claim in {b"o", b"x"}:
                assert (scanner.fate != names.IGNORED) is (claim == b"o"), document[scanner.start : scanner.end]
            elif claim in NAMESPACES:
                assert NAMESPACES[scanner.namespace] == claim, document[scanner.start : scanner.end]


CERTAINTY = {
    False: [
        b"<svg><g></svg></g>", b"<svg></a>", b"<one></one><svg></one>", b"<frameset>", b"<link><frameset>", b"<select></select><select>",
        b"<noscript></noscript><noscript>", b"<noscript><body><noscript>",
    ],
    True: [
        b"<a><svg></a>", b"<one><svg></one>", b"<one><svg></two>", b"<p><frameset>", b"</body><frameset>", b"<select><select>",
        b"<noscript><noscript>", b"<head><noscript><noscript>",
    ],
}


@pytest.mark.parametrize("guessed", CERTAINTY)
def test_uncertain_tree_construction_is_marked_as_guessed(guessed: bool) -> None:
    for document in CERTAINTY[guessed]:
        assert bool(scanned(document).tree.guessed) is guessed, document
