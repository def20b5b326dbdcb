"""No rewrite turns text into markup or code, for any reader: regression tests for each way in which that happened.

The properties are in fuzz/fuzz_harm.py; here are minimal documents for each mechanism.
"""

from typing import Any

import pytest

from absolve import Document, Profile, links, rewrite
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.rewriting.remap import Remapping

URL = "http://good.example/dir/"
EVIL = "</noscript><svg/onload=alert`1`>"
ESCAPED = "&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;"


def html(page: str, url: str = URL, **options: Any) -> str:
    return rewrite(page, media_type="text/html", url=url, **options)


@pytest.mark.parametrize("field", ["WARC-Target-URI", "Content-Base", "Content-Location"])
def test_no_base_of_a_header_is_written_with_raw_angle_brackets(field: str) -> None:
    page = b"<html><noscript><img src=x></noscript>"
    if field == "WARC-Target-URI":
        head = f"WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\n{field}: http://h/{EVIL}/\r\nContent-Length: {len(page)}\r\n\r\n"
        done = rewrite(head.encode() + page + b"\r\n\r\n", media_type="application/warc")
    else:
        head = f"MIME-Version: 1.0\r\nContent-Type: text/html\r\n{field}: http://h/{EVIL}/\r\n\r\n"
        done = rewrite(head.encode() + page, media_type="message/rfc822")
    assert f'<img src="http://h/{ESCAPED}/x">'.encode() in done


def test_an_xml_attribute_gets_no_raw_angle_brackets() -> None:
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><noscript><img src="&lt;b&gt;/a/../c"/></noscript></html>'
    done = rewrite(page, media_type="application/xhtml+xml", url=URL)
    assert f'src="{URL}&lt;b&gt;/c"' in done


@pytest.mark.parametrize(("kind", "text", "done"), [
    ("importmap", r'{"imports":{"a":"./\u003c/a/../script>x"}}', rf'{{"imports":{{"a":"{URL}\u003c/script>x"}}}}'),
    ("importmap", r'{"imports":{"a":"./\u003e/a/../x"}}', rf'{{"imports":{{"a":"{URL}\u003e/x"}}}}'),
    ("importmap", r'{"imports":{"a":"./-\u002d/../--\u003ex"}}', rf'{{"imports":{{"a":"{URL}--\u003ex"}}}}'),
    ("importmap", r'{"imports":{"a":"./a/../-\u002d>x"}}', rf'{{"imports":{{"a":"{URL}-\u002d>x"}}}}'),
    ("speculationrules", r'{"prefetch":[{"urls":["\u003c/a/../script>"]}]}', rf'{{"prefetch":[{{"urls":["{URL}\u003c/script>"]}}]}}'),
])
def test_json_in_a_script_gets_no_end_of_script_or_comment(kind: str, text: str, done: str) -> None:
    assert html(f"<script type={kind}>{text}</script>", json_ld=True) == f"<script type={kind}>{done}</script>"


@pytest.mark.parametrize("charset", ["iso-2022-jp", "utf-8", "windows-1252", "shift_jis"])
def test_no_shift_or_escape_character_is_written_into_a_page(charset: str) -> None:
    page = f'<meta charset={charset}><a href="&#27;$B/a/../b"><a href="&#14;/a/../b"><a href="&#15;/a/../b"><style>@import "\\1b $B/a/../b"</style>'
    done = rewrite(page.encode(), url=URL)
    assert not {0x0E, 0x0F, 0x1B} & set(done)
    assert f'<a href="{URL}&#27;$B/b"><a href="{URL}&#14;/b"><a href="{URL}&#15;/b"><style>@import "{URL}\\1b$B/b"'.encode() in done


@pytest.mark.parametrize(("sheet", "done"), [
    (r'@import "]]\3e \3csvg\3e/a/../b"', rf'@import "{URL}]]\3e\3csvg\3e/b"'),
    (r'@import "a/../]\5d>"', rf'@import "{URL}]\5d>"'),
    (r'@import "c/../b/\5d/../]\5d>"', rf'@import "{URL}b/]\5d>"'),
    (r"a{b:url(]]\3e/a/../b)}", rf"a{{b:url({URL}]]\3e/b)}}"),
])
def test_a_style_sheet_gets_no_end_of_a_cdata_section(sheet: str, done: str) -> None:
    assert html(f"<svg><style><![CDATA[{sheet}]]></style>") == f"<svg><style><![CDATA[{done}]]></style>"


def test_a_processing_instruction_does_not_end_between_new_and_kept_bytes() -> None:
    page = '<?xml-stylesheet href="a/../&#63;>"?><a/>'
    done = rewrite(page, media_type="application/xml", url=URL)
    assert done == f'<?xml-stylesheet href="{URL}&#63;>"?><a/>'


# --- schemes that run code --------------------------------------------------------------------------------------------

RUN_CODE = [
    "javascript://%0aalert(1)//", "java&#10;script://%0aalert(1)//", "&#1;javascript://%0aalert(1)//",
    "JaVaScRiPt://x/", "vbscript://x/", "vb&#9;script://x/", "data://x/",
]


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("base", RUN_CODE)
def test_no_base_has_a_scheme_that_a_browser_executes(base: str, profile: Profile) -> None:
    page = f'<base href="{base}"><a href=x><svg><a xlink:href=y /></svg><object codebase="{base}" data=x></object>'
    done = html(page, profile=profile)
    assert f'<base href="{base}"><a href={URL}x><svg><a xlink:href={URL}y /></svg>' in done
    assert f'<object codebase="{base}" data={URL}x>' in done
    claims = [row for row in links(Document(page, media_type="text/html", url=URL), profile=profile) if row.element == "base"]
    assert ["unsuitable-base" in row.problems for row in claims] == [True]


@pytest.mark.parametrize("url", ["vbscript://x/", "javascript://x/%0aalert(1)//", "data:text/html,x"])
def test_a_retrieval_url_that_runs_code_is_no_base_and_that_is_reported(url: str) -> None:
    assert html("<a href=x>", url) == "<a href=x>"
    document = Document("<a href=x>", media_type="text/html", url=url)
    assert [diagnostic.code for diagnostic in walk(document, Settings()).diagnostics] == ["unsuitable-base"]


@pytest.mark.parametrize("scheme", ["javascript:", "data:text/html,", "VBScript:"])
def test_a_remapping_creates_an_executable_scheme_only_if_the_rule_spells_it(scheme: str) -> None:
    url = f"http://h/{scheme}alert(1)"
    assert Remapping([("http://h/(.*)", r"\1", "regex")])(url) is None
    assert Remapping([("http://h/(.*?):(.*)", rf"{scheme}\2", "regex")])(url) == f"{scheme}{'text/html,' if 'data' in scheme else ''}alert(1)"


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986"])
def test_control_characters_of_a_base_are_percent_escaped_in_other_links_and_reported(profile: str) -> None:
    page = '<base href="http://h/a&#10;b&#13;&#1;&#127;/"><a href=x><a href="c&#10;d">'
    done = html(page, profile=profile)
    assert done == page.replace('=x><a href="', '=http://h/a%0Ab%0D%01%7F/x><a href="http://h/a%0Ab%0D%01%7F/')
    diagnostics = walk(Document(page, media_type="text/html"), Settings(profile=profile)).diagnostics
    assert [(diagnostic.code, diagnostic.line) for diagnostic in diagnostics] == [("control-character", 1)]


def test_control_characters_of_a_retrieval_url_are_percent_escaped_and_reported() -> None:
    url = "http://h/\r\nSet-Cookie: a=b\r\n/"
    done = rewrite(b"HTTP/1.1 200 OK\r\nLocation: x\r\nContent-Type: text/html\r\n\r\n<a href=x>", media_type="message/http", url=url)
    assert done == b'HTTP/1.1 200 OK\r\nLocation: http://h/%0D%0ASet-Cookie:%20a=b%0D%0A/x\r\nContent-Type: text/html\r\n\r\n<a href="http://h/%0D%0ASet-Cookie: a=b%0D%0A/x">'
    for doubtful in (url, "http://h/\x7f", "https://h/a\0"):
        document = Document("<a href=x>", media_type="text/html", url=doubtful)
        assert [diagnostic.code for diagnostic in walk(document, Settings()).diagnostics] == ["control-character"]


# --- bytes around an edit ---------------------------------------------------------------------------------------------


def test_an_edit_in_iso_2022_jp_begins_and_ends_in_the_state_around_it() -> None:
    page = b'\x1b(J<style>@import "a";</style><a href="~x"><a href="y">'
    done = rewrite(page, charset="iso-2022-jp", media_type="text/html", url="http://h/~z\\/")
    assert done == (
        b'\x1b(J<style>@import "\x1b(Bhttp://h/~z\\\\/\x1b(Ja";</style>'
        b'<a href="\x1b(Bhttp://h/~z\\/\x1b(J~x"><a href="\x1b(Bhttp://h/~z\\/\x1b(Jy">'
    )


def test_an_edit_in_iso_2022_jp_between_two_characters_ends_in_their_state() -> None:
    page = "<a href='あい'>".encode("iso2022_jp")
    done = rewrite(page, charset="iso-2022-jp", media_type="text/html", policy=lambda _: "うaい")
    assert done.decode("iso2022_jp") == "<a href='うaい'>"


def test_a_target_that_begins_with_a_quote_is_no_quoted_url_in_a_refresh() -> None:
    page = "<meta http-equiv=refresh content='0;x'>"
    assert html(page, policy=lambda _: '"x"y') == "<meta http-equiv=refresh content='0;%22x\"y'>"


# --- noscript elements that scripting ends elsewhere ------------------------------------------------------------------


@pytest.mark.parametrize("page", [
    "<noscript><p title='</noscript><script>var a=\"'><a href=x>\"</script>",
    "<noscript><!-- </noscript><style>a{b:url(--><a href=x>) }</style>",
    "<noscript><style></noscript><p title='</style><a href=x>'>",
    "<noscript><svg></noscript><style><!--<a href=x></style>",
    "<noscript><template></noscript><a href=x>",
    "<noscript>x</noscript><frameset><frame src=x></frameset>",
    "<noscript><plaintext></noscript><a href=x>",
])
def test_a_noscript_element_that_scripting_ends_elsewhere_is_ambiguous_and_verified(page: str) -> None:
    document = Document(page, media_type="text/html", url=URL)
    assert "ambiguous" in [diagnostic.code for diagnostic in walk(document, Settings()).diagnostics]


@pytest.mark.parametrize("page", [
    "<noscript><img src=x><p><div></noscript><a href=y>",
    "<head><noscript><link rel=stylesheet href=a.css><style>a{}</style></noscript></head><body>",
    "<noscript><iframe src=x></iframe></NoScript ><table><tr><td><noscript><table><tr></table></noscript></table>",
    "<noscript><a href=x>",
    "<template><noscript><a href=x></noscript></template>",
    "<svg><noscript><a href='</noscript>'></noscript></svg>",
])
def test_other_noscript_elements_are_the_same_with_and_without_scripting(page: str) -> None:
    document = Document(page, media_type="text/html", url=URL)
    assert walk(document, Settings()).diagnostics == []


def test_no_line_end_changes_the_state_of_iso_2022_jp() -> None:
    page = b"<a href='\x1b$B!!\n/a/../b'><svg/onload=alert`1`>"  # a browser reads all of it as text of two bytes per character
    assert rewrite(page, charset="iso-2022-jp", media_type="text/html", url=URL) == page


@pytest.mark.parametrize("field", ["Location:\r", "Location: a\rb", "Location: a\0b"])
def test_a_header_field_that_some_readers_end_early_stays(field: str) -> None:
    message = f"HTTP/1.1 302\r\n{field}\r\n\r\n".encode()
    assert rewrite(message, media_type="message/http", policy=lambda _: "x") == message
    document = Document(message, media_type="message/http")
    assert [diagnostic.code for diagnostic in walk(document, Settings()).diagnostics] == ["malformed-field"]


def test_half_a_code_unit_of_utf_16_at_the_end_can_be_replaced() -> None:
    page = "<style>@import 'x".encode("utf-16-le") + b"y"
    done = rewrite(page, charset="utf-16le", media_type="text/html", policy=lambda _: "z")
    assert done == "<style>@import 'z".encode("utf-16-le")


def test_a_retrieval_url_with_a_lone_surrogate_has_a_replacement_character() -> None:
    (row,) = links(Document("<a href=x>", media_type="text/html", url="http://h/\ud800/"))
    assert row.target == "http://h/\ufffd/x"


def test_an_empty_field_that_is_folded_is_written_on_its_first_line() -> None:
    message = b"HTTP/1.1 302\r\nBase: \r\n \r\nSet-Cookie: a\r\n\r\n"
    done = rewrite(message, media_type="message/http", policy=lambda _: "x")
    assert done == b"HTTP/1.1 302\r\nBase: x\r\n \r\nSet-Cookie: a\r\n\r\n"
