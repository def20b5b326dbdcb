"""Mentions of old URLs that stay are reported with why: each text, marked, and a word of each report."""

import time
import warnings

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk

RULES = [("http://old.example", "https://new.example"), ("http://old.example/x?u=http://old.example/b", "https://new.example/y", "exact")]
STAYS = [
    ('<a href="http://old.example/x?u=http://old.example/b">', "text/html", ["as a whole"]),
    ('<a href="http://old.example/x?u=http://old.example/c">', "text/html", []),
    ('<a href=http://old.example/x"?u=http://old.example/b"c>', "text/html", ["cannot be written"]),
    ("<a ping=http://old.example/a?u=http://old.example/b&#32;http://old.example/c>", "text/html", ["cannot be written"]),
    ('<a href="&#104;ttp://old.example/a">', "text/html", []),
    ("x//old.example/", "", ["in the path"]),
    ("<!--http://old.example--> http://old.example- http://old.example_ http://old.example", "text/html", ["beside"] * 3),
    ("http://me@old.example/ *.old.example *.old.example-x", "", ["beside"] * 2),
    ("\ufeffhttp://old.example/".encode("utf-16-le"), "", ["UTF-16"]),
    ("%PDF-1.7 http://old.example/ https://old.example/", "", ["counts", "no rule"]),
    ("<?php __HALT_COMPILER(); s:18:'http://old.example", "", ["counts"]),
    ("<p><?php __halt_compiler();?> http://old.example/", "text/html", ["counts"]),
    ("\ufeff\n%PDF-1.7 http://old.example/", "", ["counts"]),
    ("feature done\nhttp://old.example/", "", ["counts"]), ("reset refs/heads/a\nhttp://old.example/", "", ["counts"]),
    ('<script>"http:" + "//old.example/"</script><style>a{b:"http\\3a //old.example/"}</style>', "text/html", ["a host"] * 2),
]


@pytest.mark.parametrize(("text", "media_type", "words"), STAYS)
def test_what_stays_is_reported_with_why(text: str | bytes, media_type: str, words: list[str]) -> None:
    policy = absolve.remap(RULES, mentions=True)
    entity = walk(Document(text, media_type=media_type or "application/x.other"), Settings())
    places = policy.__self__.mentions.found(entity)[0]  # type: ignore[attr-defined]
    said = [place.why for place in places if place.why]
    assert len(said) == len(words), said
    assert all(word in why for word, why in zip(words, said, strict=True)), said


@pytest.mark.parametrize("text", ["&//old.example/", "?http://old.example/a", "&amp;//old.example", "<!-- http://old.example --", "&http://old.example"])
def test_urls_in_queries_of_urls_take_linear_time(text: str) -> None:
    policy = absolve.remap(RULES, mentions=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", absolve.DiagnosticWarning)
        new = absolve.rewrite(text * 2000, policy=policy, media_type="text/html")
    assert new.count("new.example") == 2000
    assert absolve.verify(text * 2000, new, policy=policy, media_type="text/html") == []


def test_mentions_in_one_long_link_take_linear_time() -> None:
    began = time.process_time()
    absolve.rewrite(f"<a href='?{'u=http://old.example/a&' * 20_000}'>", policy=absolve.remap(RULES, mentions=True), media_type="text/html")
    assert time.process_time() - began < 10  # it took 28 seconds
