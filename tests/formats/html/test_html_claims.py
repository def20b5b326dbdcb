"""Comments of programs that save pages: every form that they write, and similar comments."""

import pytest

from absolve.api import base, rewrite
from absolve.encodings.charsets import UTF_8, Charset, by_label
from absolve.formats.html.claims import retrieval_url

ZONE = "saved from url comment"
SINGLEFILE = "SingleFile comment"
MONOLITH = "monolith comment"
HTTRACK = "HTTrack comment"


def found_in(comment: str, charset: Charset = UTF_8) -> tuple[str, str] | None:
    data = f"<!--{comment}-->".encode(charset.codec)
    return retrieval_url(data, 4, len(data) - 3, charset)


@pytest.mark.parametrize("comment", [
    "", " ", " saved from url= http://h.example/ ", " saved from url=(0019)",
    " the page was saved from url=(0019)http://h.example/p ", " saved from url=(0014)about:internet ",
    " saved from url=(0013)about:internet ", " saved from url=(0011)about:blank ",
    " saved from url=(0022)http://internet.e-mail ", " saved from url=(0016)http://localhost ",
    " saved from url=(0017)http://localhost/ ", " saved from url=(0053)# ", " saved from url=(0009)page.html ",
    "\n Page saved with SingleFile ", "\n Page saved with SingleFiles \n url: http://h.example/p \n",
    " url: http://h.example/p ", " Saved from local source at 2025-01-06T10:00:00Z using monolith v2.8.3 ",
    " Saved from http://h.example/p at noon ", " Saved in parser cache with key x ", " Mirrored from h.example/p ",
    " Mirror and index made by HTTrack Website Copier/3.49-2 [XR&CO'2014] ", " Added by HTTrack ",
    " Created by HTTrack Website Copier/3.49-2 [XR&CO'2014] ",
])
def test_comments_without_a_saved_url_are_ignored(comment: str) -> None:
    assert found_in(comment) is None


@pytest.mark.parametrize(("comment", "url", "source"), [
    # Internet Explorer, Chromium
    (" saved from url=(0023)http://h.example/p.html ", "http://h.example/p.html", ZONE),
    ("saved from url=(0023)http://h.example/p.html", "http://h.example/p.html", ZONE),
    (" Saved From URL=(0018)HTTP://h.example/p ", "HTTP://h.example/p", ZONE),
    (" saved from url=(0031)https://h.example/a-%2Db.html?q#f ", "https://h.example/a-%2Db.html?q#f", ZONE),
    (" saved from url=(0022)file:///C:/dir/a b.htm ", "file:///C:/dir/a b.htm", ZONE),
    (" saved from url=(0012)http://h.example/moved/p.html ", "http://h.example/moved/p.html", ZONE),  # edited since
    (f" saved from url=(10024)http://h.example/?{'x' * 10006} ", None, ZONE),  # longer than the examined part
    # SingleFile, under both of its names, with its optional parts
    (
        "\n Page saved with SingleFile \n url: https://h.example/p \n saved date: Mon Jan 06 2025 10:00:00 GMT+0100\n",
        "https://h.example/p",
        SINGLEFILE,
    ),
    ("\n Page saved with SingleFile \n url: https://h.example/p \n info: url: x \n", "https://h.example/p", SINGLEFILE),
    ("\r\n Page saved with SingleFile \r\n url: https://h.example/p \r\n", "https://h.example/p", SINGLEFILE),
    ("\n Page saved with SingleFileZ \n url: https://h.example/p \n saved date: x\n", "https://h.example/p", SINGLEFILE),
    ("\n Page saved with SingleFile \n url: https://h.example/p", "https://h.example/p", SINGLEFILE),
    ("\n Archive processed by SingleFile \n url: https://h.example/p \n saved date: x\n", "https://h.example/p", SINGLEFILE),
    # monolith; the date format changed in 2.4
    (" Saved from https://h.example/p at 2025-01-06T10:00:00Z using monolith v2.8.3 ", "https://h.example/p", MONOLITH),
    (" Saved from https://h.example/p at Mon, 6 Jan 2020 10:00:00 GMT using monolith v2.2.5 ", "https://h.example/p", MONOLITH),
    # HTTrack: no scheme, or the whole URL
    (" Mirrored from h.example/p.html by HTTrack Website Copier/3.x [XR&CO'2014], Mon, 06 Jan 2020 ", "http://h.example/p.html", HTTRACK),
    (" Mirrored from h.example/ by HTTrack Website Copier/3.x [XR&CO'2010], x ", "http://h.example/", HTTRACK),
    (" Mirrored from h.example/p?a=1&b=2 by HTTrack Website Copier/3.x [XR&CO'2014], x ", "http://h.example/p?a=1&b=2", HTTRACK),
    (" Mirrored from h.example:8080/p by HTTrack Website Copier/3.x [XR&CO'2014], x ", "http://h.example:8080/p", HTTRACK),
    (" Mirrored from localhost:80/?u=http://x/ by HTTrack Website Copier/3.x [XR&CO'2014], x ", "http://localhost:80/?u=http://x/", HTTRACK),
    (" Mirrored from https://h.example/p by HTTrack Website Copier/3.x [XR&CO], x ", "https://h.example/p", HTTRACK),
    (" Mirrored from file:///dir/p by HTTrack Website Copier/3.x [XR&CO'2014], x ", "file:///dir/p", HTTRACK),
])
def test_a_saved_from_comment_gives_the_url_of_the_page(comment: str, url: str | None, source: str) -> None:
    found = found_in(comment)
    assert found is not None
    assert found[1] == source
    assert url is None or found[0] == url


def test_a_saved_url_is_decoded_in_the_charset_of_the_document() -> None:
    comment = " saved from url=(0023)http://h.example/папка/ "
    assert found_in(comment, by_label("windows-1251")) == ("http://h.example/папка/", ZONE)


def test_a_long_comment_is_not_read_to_its_end() -> None:
    assert found_in(" Page saved with SingleFile" + " " * 10000 + "\n url: http://h.example/") is None


@pytest.mark.parametrize(("page", "url"), [
    # the first comment with a URL is used
    ("<!-- saved from url=(0014)about:internet --><!-- saved from url=(0019)http://h.example/d/ -->", "http://h.example/d/"),
    ("<!-- saved from url=(0019)http://h.example/1/ --><!-- saved from url=(0019)http://h.example/2/ -->", "http://h.example/1/"),
    # positions: after the doctype, in html, at the end
    ("<!doctype html>\n<!-- saved from url=(0019)http://h.example/1/ -->\n<html>", "http://h.example/1/"),
    ("<!doctype html><html><!--\n Page saved with SingleFile \n url: http://h.example/1/ \n-->", "http://h.example/1/"),
    ("<p>x</p></body><!-- Mirrored from h.example/1/ by HTTrack Website Copier/3.x [XR&CO'2014], x -->\n</html>", "http://h.example/1/"),
    # not a comment
    ("<script><!-- saved from url=(0019)http://h.example/1/ --></script>", ""),
    ("<title><!-- saved from url=(0019)http://h.example/1/ --></title>", ""),
    ("<p title='<!-- saved from url=(0019)http://h.example/1/ -->'>", ""),
])
def test_a_saved_from_comment_is_found_anywhere_in_the_document(page: str, url: str) -> None:
    assert base(page, media_type="text/html").url == url


def test_the_url_option_precedes_a_saved_from_comment() -> None:
    page = "<!-- saved from url=(0019)http://h.example/1/ --><a href=x>"
    assert rewrite(page, media_type="text/html") == page.replace("href=x", "href=http://h.example/1/x")
    assert rewrite(page, url="http://u.example/") == page.replace("href=x", "href=http://u.example/x")
    assert [claim.verdict for claim in base(page, url="http://u.example/").chain] == ["won", "ignored"]


# --- attributes, and the scripts of an archive ------------------------------------------------------------------------

WOMBAT = '__wm.init("https://web.archive.org/web");\n__wm.wombat("http://h.example/p","20140403040000","https://web.archive.org/","web","x");'
TOOLBAR = '__wm.bt(775,27,25,2,"web","http://h.example/p","20140403040000",1996,"https://x/",["x"], false);'
REPLAYED = "http://h.example/p"  # of which the page is a capture


@pytest.mark.parametrize(("page", "url", "source"), [
    ('<html lang=x data-scrapbook-source="http://h.example/?a&amp;b">', "http://h.example/?a&b", "WebScrapBook attribute"),
    ('<meta content="http://h.example/p" name=savepage-url>', "http://h.example/p", "Save Page WE meta element"),
    (f"<script>{WOMBAT}</script>\n<!-- End Wayback Rewrite JS Include -->", REPLAYED, "Wayback Machine script"),
    (f"<script>{TOOLBAR}</script>\n<!-- END WAYBACK TOOLBAR INSERT -->", REPLAYED, "Wayback Machine script"),
])
def test_programs_record_the_url_in_attributes_and_scripts(page: str, url: str, source: str) -> None:
    found = base(f"{page}<a href=x>")
    assert (found.url, found.source.partition(",")[0]) == (url, source)


@pytest.mark.parametrize("page", [
    "<html data-scrapbook-source='p.html'>", "<html data-scrapbook-source>", "<div data-scrapbook-source='http://h.example/'>",
    "<meta name=savepage-url>", "<meta name=savepage-url content='about:blank'>", "<meta name=savepage-title content='http://h/'>",
    "<!-- END WAYBACK TOOLBAR INSERT -->", "<!-- FILE ARCHIVED ON 20:53:27 Jul 2, 2007 AND RETRIEVED FROM THE INTERNET ARCHIVE -->",
    f"<script>{WOMBAT}</script><!-- end -->", f"<script>{WOMBAT}</script>{' ' * 3000}<!-- End Wayback Rewrite JS Include -->",
])  # fmt: skip
def test_others_record_none(page: str) -> None:
    assert base(f"{page}<p>").url == ""


def test_the_first_record_of_a_page_counts() -> None:
    page = "<!-- saved from url=(0018)http://h.example/1 --><html data-scrapbook-source='http://h.example/2'>"
    assert base(page).url == "http://h.example/1"
