"""Office documents: external relationships of Office Open XML, and the links of OpenDocument; nothing else changes."""

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Final

import pytest

import absolve
from absolve.formats import registry
from absolve.rewriting.remap import Remapping
from tests.shapes.captures import page, zipped

URL: Final = "http://h.example/d/a.docx"
SPACE: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relationships(*targets: str, kind: str = "hyperlink", mode: str = 'TargetMode="External"') -> str:
    items = "".join(f'<Relationship Id="r{i}" Type="{TYPE}/{kind}" Target="{t}" {mode}/>' for i, t in enumerate(targets))
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<Relationships xmlns="{SPACE}">{items}</Relationships>'


def word(rels: str, **more: str | bytes) -> bytes:
    body = '<w:document xmlns:w="w" xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="not-a-link"/>'
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": body, "word/_rels/document.xml.rels": rels, **more})


def open_document(links: str, **more: str | bytes) -> bytes:
    names = 'xmlns:office="o" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return zipped({"mimetype": registry.OPEN_DOCUMENT[0], "content.xml": f"<office:document-content {names}>{links}</office:document-content>", **more})


def rows(data: bytes, *names: str, name: str | None = "a.docx", url: str | None = URL, **options: Any) -> list[list[Any]]:
    found = absolve.links(data, name=name, url=url, on_diagnostic=lambda _: None, **options)
    return [[getattr(row, column) for column in names] for row in found]


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        assert package.testzip() is None
        return {name: package.read(name) for name in package.namelist()}


def test_relationships_to_parts_are_no_links() -> None:
    assert rows(word(relationships("x", mode='TargetMode="Internal"'))) == []
    assert rows(word(relationships("../media/i.png", "NULL", "#Bookmark", mode=""))) == []
    data = word(relationships("media/i.png", mode=""), **{"word/media/i.svg": '<svg xmlns="http://www.w3.org/2000/svg"><a href="x"/></svg>'})
    assert absolve.rewrite(data, name="a.docx", url=URL) is data


def test_external_targets_are_relative_to_the_file_and_have_the_kind_of_the_relationship() -> None:
    data = word(relationships("b.html", "../c.docx", "#Mark", "http://o.example/?x=1&amp;y", "mailto:a@b", "file:///C:\\x.docx"))
    assert rows(data, "reference", "target", "kind") == [
        ["b.html", "http://h.example/d/b.html", "navigation"], ["../c.docx", "http://h.example/c.docx", "navigation"],
        ["#Mark", f"{URL}#Mark", "navigation"],
        ["http://o.example/?x=1&y", "http://o.example/?x=1&y", "navigation"],
        ["mailto:a@b", "mailto:a@b", "navigation"],
        ["file:///C:\\x.docx", "file:///C:\\x.docx", "navigation"],
    ]
    assert [row[0] for row in rows(data, "target", url=None)][:3] == [None, None, None]
    for kind, found in (("image", "image"), ("video", "media"), ("attachedTemplate", "other"), ("oleObject", "other")):
        assert rows(word(relationships("x", kind=kind)), "kind") == [[found]]


LOADED = "attachedTemplate oleObject frame subDocument externalLinkPath mailMergeSource package slide".split()


LOADED_ELEMENTS = "drawing:object-ole drawing:floating-frame drawing:applet text:section-source table:table-source meta:template script:event-listener"


def test_what_an_office_program_loads_is_listed_and_stays() -> None:
    for kind in LOADED:
        data = word(relationships("t.dotm", "", "../x", kind=kind))
        assert rows(data, "reference", "target")[0] == ["t.dotm", "http://h.example/d/t.dotm"]
        for policy in (None, Remapping([("http://h.example/d/", "http://evil.example/")]).policy):
            assert absolve.rewrite(data, name="a.docx", url=URL, policy=policy) is data
    for space, _, element in (one.partition(":") for one in LOADED_ELEMENTS.split()):
        data = open_document(f'<l:{element} xmlns:l="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0" xlink:href="../t.ott"/>')
        assert rows(data, "target", name="a.odt", url="http://h.example/d/a.odt") == [["http://h.example/d/t.ott"]]
        assert absolve.rewrite(data, name="a.odt", url="http://h.example/d/a.odt") is data


def test_only_the_relationships_change() -> None:
    data = word(relationships("b.html", "#Mark", "http://o.example/"))
    done = absolve.rewrite(data, name="a.docx", url=URL)
    before, after = members(data), members(done)
    assert list(before) == list(after)
    assert [name for name in before if before[name] != after[name]] == ["word/_rels/document.xml.rels"]
    assert after["word/_rels/document.xml.rels"].decode() == relationships("http://h.example/d/b.html", "#Mark", "http://o.example/")
    assert absolve.verify(data, done, name="a.docx", url=URL) == []


WORD: Final = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">%s</w:document>'
SHEET: Final = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><f>%s</f></worksheet>'


@pytest.mark.parametrize(("name", "text", "found"), [
    ("word/document.xml", WORD % '<w:instrText> HYPERLINK "http://o/?a&amp;b" \\o "t" </w:instrText>', ["http://o/?a&b"]),
    ("word/footer1.xml", WORD % '<w:fldSimple w:instr="hyperlink &quot;b.docx&quot; \\l &quot;x&quot;"/>', ["b.docx"]),
    ("word/document.xml", WORD % "<w:instrText>HYPERLINK http://o/</w:instrText>", ["http://o/"]),
    ("word/document.xml", WORD % '<w:instrText>HYPERLINK \\l "m"</w:instrText><w:instrText>REF "HYPERLINK x"</w:instrText>', []),
    ("word/document.xml", WORD % '<w:instrText>HYPERLINK "C:\\\\x"</w:instrText><w:delInstrText>HYPERLINK "x"</w:delInstrText>', []),
    ("xl/worksheets/sheet1.xml", SHEET % 'IF(A1,HYPERLINK("http://o/a"),HYPERLINK("http://o/b", "b"))', ["http://o/a", "http://o/b"]),
    ("xl/worksheets/sheet1.xml", SHEET % 'HYPERLINK("http://o/"&amp;A1)&amp;HYPERLINK(A2)', []),
    ("xl/worksheets/sheet1.xml", SHEET % '"=HYPERLINK("&amp;CHAR(34)&amp;A1&amp;CHAR(34)&amp;")"', []),
    ("xl/worksheets/sheet1.xml", SHEET % '"HYPERLINK("&amp;A1&amp;")"', []),
    ("xl/worksheets/sheet1.xml", SHEET % 'IF(A1="","","=HYPERLINK("&amp;B1&amp;","&amp;C1&amp;")")', []),
    ("xl/worksheets/sheet1.xml", SHEET % '"a ""HYPERLINK(""b"")"&amp;HYPERLINK("http://o/a", A1)', ["http://o/a"]),
    ("xl/worksheets/sheet1.xml", SHEET % "'it''s \"HYPERLINK(\"q\")'!A1&amp;HYPERLINK( \"http://o/a\" )", ["http://o/a"]),
    ("xl/worksheets/sheet1.xml", SHEET % 'T[say "x]&amp;HYPERLINK("http://o/a")&amp;T["]', ["http://o/a"]),
    ("xl/worksheets/sheet1.xml", SHEET % 'MY.HYPERLINK("a")&amp;ÄHYPERLINK("a")&amp;HYPERLINK("a""b")', []),
])
def test_hyperlinks_in_fields_and_formulas_are_links(name: str, text: str, found: list[str]) -> None:
    data = word(relationships(), **{name: text})
    assert rows(data, "reference") == [[reference] for reference in found]
    changed = absolve.rewrite(data, name="a.docx", url=URL, policy=lambda link: f'http://n/"{link.reference[-1]}')
    assert rows(changed, "reference") == [[f"http://n/%22{reference[-1]}"] for reference in found]
    assert not absolve.verify(data, changed, name="a.docx", url=URL, policy=lambda link: f'http://n/"{link.reference[-1]}')


def test_a_field_in_pieces_is_reported() -> None:
    pieces = '<w:instrText>HYPERLINK "http://</w:instrText><w:instrText>o/"</w:instrText>'
    told: list[str] = []
    data = word(relationships(), **{"word/document.xml": WORD % pieces})
    assert not list(absolve.links(data, name="a.docx", url=URL, on_diagnostic=lambda one: told.append(one.code)))
    assert told[0] == "pieces"


def test_the_hyperlink_base_of_the_properties_is_the_base() -> None:
    properties = '<Properties xmlns="x"><HyperlinkBase>http://base.example/q/?a&amp;b</HyperlinkBase></Properties>'
    data = word(relationships("b.html"), **{"docProps/app.xml": properties})
    assert rows(data, "target", "base_source") == [["http://base.example/q/b.html", "word/_rels/document.xml.rels (HyperlinkBase of docProps/app.xml)"]]


def test_references_of_an_open_document_see_it_as_a_folder() -> None:
    data = open_document("".join(f'<text:a xlink:href="{link}"/>' for link in ("../b.odt", "Pictures/x.png", "#Ref", "http://o.example/")), **{"Pictures/x.png": b"x"})
    found = rows(data, "reference", "target", name="a.odt", url="http://h.example/d/a.odt")
    assert found[0] == ["../b.odt", "http://h.example/d/b.odt"]
    done = members(absolve.rewrite(data, name="a.odt", url="http://h.example/d/a.odt"))
    text = done.pop("content.xml").decode()
    assert [part.split('"')[0] for part in text.split('href="')[1:]] == ["http://h.example/d/b.odt", "Pictures/x.png", "#Ref", "http://o.example/"]
    assert done == {name: value for name, value in members(data).items() if name != "content.xml"}


def test_what_is_no_zip_file_is_an_error_and_signed_documents_stay() -> None:
    with pytest.raises(absolve.DocumentError):
        rows(b"\xd0\xcf\x11\xe0" + b"x" * 600)  # an encrypted document is an OLE file
    data = word(relationships("b.html"), **{"_xmlsignatures/sig1.xml": "<x/>"})
    with pytest.warns(absolve.DiagnosticWarning, match="signed"):
        assert absolve.rewrite(data, name="a.docx", url=URL) is data


def test_the_check_compares_the_tokens_of_formulas() -> None:
    formula = '"=HYPERLINK("&amp;CHAR(34)&amp;A1&amp;")"'
    data, torn = (word(relationships(), **{"xl/worksheets/sheet1.xml": SHEET % text}) for text in (formula, formula.replace('("&', '("http://h/&')))
    assert [one.code for one in absolve.verify(data, torn, name="a.xlsx", url=URL)][-1] == "tree"


NAMELESS: Final = {
    "workbook": zipped({
        "docProps/app.xml": "<Properties/>", "xl/worksheets/sheet1.xml": SHEET % 'HYPERLINK("x.html")',
        "xl/worksheets/_rels/sheet1.xml.rels": relationships("rel.html"), "[Content_Types].xml": "<Types/>",
    }),
    "text": open_document('<text:a xlink:href="../x.html"/><text:a xlink:href="../rel.html"/>'),
    "zipped again": zipped({"content.xml": members(open_document('<text:a xlink:href="../x.html"/><text:a xlink:href="../rel.html"/>'))["content.xml"], "mimetype": registry.OPEN_DOCUMENT[0]}),
}


@pytest.mark.parametrize("data", NAMELESS.values(), ids=NAMELESS)
def test_an_office_document_is_known_by_what_marks_it_and_not_by_its_name(data: bytes) -> None:
    for name in (None, "noext", "a.zip", "a.xlsx", "a.odt", "-"):
        assert sorted(rows(data, "target", name=name)) == [["http://h.example/d/rel.html"], ["http://h.example/d/x.html"]]
        done = absolve.rewrite(data, name=name, url=URL)
        assert sorted(rows(done, "reference", name=name)) == [["http://h.example/d/rel.html"], ["http://h.example/d/x.html"]]
        assert absolve.verify(data, done, name=name, url=URL) == []


def test_a_workbook_in_a_message_or_an_archive_of_the_web_needs_no_suffix_either() -> None:
    message = EmailMessage()
    message["Content-Location"] = URL
    message.set_content("x")
    message.add_attachment(NAMELESS["workbook"], maintype="application", subtype="zip", filename="a")
    assert [row[0] for row in rows(bytes(message), "reference", name="a.eml")] == ["x.html", "rel.html"]
    archive = page(URL, NAMELESS["workbook"], media_type="application/zip")
    assert rows(archive, "target", name="a.warc", url=None) == [["http://h.example/d/x.html"], ["http://h.example/d/rel.html"]]


@pytest.mark.parametrize("name", [None, "a.zip", "a.xlsx", "a.docx", "a.odt"])
def test_without_the_mark_fields_formulas_and_relationships_are_no_links(name: str | None) -> None:
    data = zipped({**{key: value for key, value in members(NAMELESS["workbook"]).items() if key[0] != "["}, "word/document.xml": WORD % '<w:instrText>HYPERLINK "x"</w:instrText>', "a.html": "<a href=b>"})
    assert rows(data, "reference", name=name, url="http://h/") == [["b"]]


def test_a_mirror_holds_a_workbook_of_any_name_as_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(NAMELESS["workbook"])
    absolve.mirror([tmp_path / "a.zip"], tmp_path / "m")
    assert [path.read_bytes() for path in (tmp_path / "m").rglob("*.zip")] == [NAMELESS["workbook"]]
