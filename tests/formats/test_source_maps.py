"""Comments that name a source map, in scripts and style sheets: ECMA-426, "Linking through inline annotations"."""

import re

import pytest

import absolve
from absolve.formats import registry

URL = "http://h/d/a"

# As tools write them; `%` is where the URL becomes absolute.
SCRIPTS = {
    "webpack": "!function(e){e.exports={}}([]);\n//# sourceMappingURL=%main.js.map",
    "webpack, hashed": "(()=>{})();\n//# sourceMappingURL=%app.3f2a.js.map?v=1&x=y#z\n",
    "tsc": '"use strict";\r\nexports.a = 1;\r\n//# sourceMappingURL=%index.js.map',
    "rollup": "export { a };\n//# sourceMappingURL=%bundle.js.map\n",
    "esbuild": "(() => {\n  console.log(1);\n})();\n//# sourceMappingURL=%out.js.map\n",
    "terser, one line": "var a=/[/]/,b=a/2;//# sourceMappingURL=%a.min.js.map",
    "gulp-sourcemaps": "var a;\n//# sourceMappingURL=%../maps/a.js.map\n",
    "before 2013": "/*\n//@ sourceMappingURL=a.map\n*/var a;\n//@ sourceMappingURL=%jquery.min.map\n",
    "a block": "var a;\n/*# sourceMappingURL=%a.js.map */\n",
    "Closure": "\ufeffvar a;\n//# sourceMappingURL=%a.js.map\n\n\n",
    "license behind it": "var a;\n//# sourceMappingURL=%a.js.map\n/* (c) me */ // 2024\n",
    "two": "//# sourceMappingURL=a.map\nvar a;\n//# sourceMappingURL=b.map\n//# sourceMappingURL=%c.map",
    "a call behind it": "var a;\n//# sourceMappingURL=%a.js.map\n// see a();",
    "line separator": "var a;\u2028//# sourceMappingURL=%a.map\u2029",
    "CR alone": "var a;\r//# sourceMappingURL=%a.map\r",
    "root": "var a;\n//# sourceMappingURL=%/m/a.map",
    "long line": "a/b;" * 5000 + "//# sourceMappingURL=%a.map",
    "long file": "a('//x');\n" * 5000 + "//# sourceMappingURL=%a.map",
}
# Comments in which the algorithm sees none.
NONE = {
    "code behind it": "//# sourceMappingURL=a.map\nvar a;",
    "code in its line": "/*# sourceMappingURL=a.map */ var a;",
    "a template": "let a = `\n//# sourceMappingURL=foo.js.map\n//`;",
    "a string": 'var a = "//# sourceMappingURL=a.map"',
    "a string of a loader": "var a = '//# sourceMappingURL=' + b;",
    "a comment in a comment": "var a = 'http://b';//# sourceMappingURL=a.map",
    "lines of a comment": "/*\n//# sourceMappingURL=a.map\n*/",
    "no sign": "// sourceMappingURL=a.map",
    "blanks": "//# sourceMappingURL=a b.map",
    "blank before": "//# sourceMappingURL= a.map",
    "case": "//# sourcemappingurl=a.map",
    "empty": "//# sourceMappingURL=",
    "open": "/*# sourceMappingURL=a.map",
    "quote": "//# sourceMappingURL=a'.map",
    "map inside": "//# sourceMappingURL=data:application/json;base64," + "e30=" * 2000,
}
SHEETS = {
    "sass": "a{b:c}\n\n/*# sourceMappingURL=%style.css.map */\n",
    "postcss": "a{b:url(%x.png)}\n/*# sourceMappingURL=%style.css.map */",
    "less": "a{b:c}/*# sourceMappingURL=%a.css.map?v=2*/\r\n",
    "before 2013": "a{b:c}\n/*@ sourceMappingURL=%a.css.map */",
    "last": "/*# sourceMappingURL=a.map */ a{} /*# sourceMappingURL=%b.map */ /* (c) it's */ /*# sourceURL=x */",
    "string": "a::after{content:'/*# sourceMappingURL=a.map */'}",
    "code behind it": "/*# sourceMappingURL=a.map */ a{b:c}",
    "open": "a{b:c}/*# sourceMappingURL=a.map",
    "lines": "a{b:c}/* sourceMappingURL=a.map */ /*\n# sourceMappingURL=a.map\n*/",
}


def filled(text: str) -> str:
    return re.sub("%(/?[^ *?#\\s\u2029)]*)", lambda found: str(absolve.resolve(URL, found[1])), text)


def assert_changed(text: str, **given: str) -> None:
    before, wanted = text.replace("%", ""), filled(text)
    assert absolve.rewrite(before, url=URL, **given) == wanted  # type: ignore[call-overload]
    assert not absolve.verify(before, wanted, url=URL, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", SCRIPTS)
@pytest.mark.parametrize("name", ["a.js", "a.mjs"])
def test_the_source_map_of_a_script_is_a_link(form: str, name: str) -> None:
    assert_changed(SCRIPTS[form], name=name)
    assert_changed(SCRIPTS[form], media_type="application/javascript")


@pytest.mark.parametrize("form", NONE)
def test_what_the_algorithm_does_not_see_is_no_link(form: str) -> None:
    assert not list(absolve.links(NONE[form], media_type="text/javascript", url=URL))


@pytest.mark.parametrize("form", SHEETS)
def test_the_source_map_of_a_style_sheet_is_a_link(form: str) -> None:
    assert_changed(SHEETS[form], name="a.css")


def test_a_script_without_one_is_no_document() -> None:
    assert registry.sniff(b"var a;", "a.js") is None
    assert registry.sniff(SCRIPTS["tsc"].encode(), "a.JS") == registry.JAVASCRIPT
    assert registry.sniff(SCRIPTS["tsc"].encode(), "a.ts") is None


@pytest.mark.parametrize("media_type", ["application/javascript", "text/javascript; charset=utf-8", "application/x-javascript"])
def test_scripts_in_responses_are_read(media_type: str) -> None:
    body = "var a;\n//# sourceMappingURL=%a.map\n"
    response = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n"
    (link,) = absolve.links(response + body.replace("%", ""), url=URL)
    assert (link.element, link.attribute, link.kind, link.target) == ("javascript", "sourcemappingurl", "other", "http://h/d/a.map")
    assert absolve.rewrite(response + body.replace("%", ""), url=URL) == response + filled(body)


PAGE = """<base href=/b/><style>a{b:c}
/*# sourceMappingURL=%s.map */</style><script>a<b
//# sourceMappingURL=%i.map
</script><script type=module>//<![CDATA[
//# sourceMappingURL=%m.map
//]]></script><script type=text/template>//# sourceMappingURL=no.map</script><script src=x></script>"""


def test_inline_scripts_and_sheets_name_theirs_by_the_url_of_the_page() -> None:
    wanted = PAGE.replace("%", "http://h/d/").replace("/b/", "http://h/b/").replace("src=x", "src=http://h/b/x")
    assert absolve.rewrite(PAGE.replace("%", ""), url=URL, media_type="text/html") == wanted
    assert not absolve.verify(PAGE.replace("%", ""), wanted, url=URL, media_type="text/html")


XHTML = """<html xmlns="http://www.w3.org/1999/xhtml"><head><style>a{b:c}/*# sourceMappingURL=%s.map */</style><script><![CDATA[a<b
//# sourceMappingURL=%i.map
]]></script><script>a &lt; b
/*# sourceMappingURL=%j.map?a&amp;b */</script></head></html>"""


def test_inline_scripts_of_xhtml_too() -> None:
    assert absolve.rewrite(XHTML.replace("%", ""), url=URL, media_type="application/xhtml+xml") == XHTML.replace("%", "http://h/d/")
    assert not absolve.verify(
        XHTML.replace("%", ""), XHTML.replace("%", "http://h/d/"), url=URL, media_type="application/xhtml+xml"
    )


def test_verify_sees_another_source_map() -> None:
    for text, name in ((SCRIPTS["tsc"], "a.js"), (SHEETS["sass"], "a.css"), (PAGE, "a.html")):
        right = absolve.rewrite(text.replace("%", ""), url=URL, name=name)
        assert absolve.verify(text.replace("%", ""), right.replace(".map", ".mop"), url=URL, name=name)


@pytest.mark.parametrize(
    ("before", "after", "media_type"),
    [
        ("<script>//# sourceMappingURL=", "\n</script><p>", "text/html"),
        ("<script><!--\n//# sourceMappingURL=", "\n//--></script><p>", "text/html"),
        ("<style>/*# sourceMappingURL=", " */</style><p>", "text/html"),
        ("/*# sourceMappingURL=", "*/", "text/css"),
        ("//# sourceMappingURL=", "\u2028", "text/javascript"),
    ],
)
@pytest.mark.parametrize("new", ["http://n/</script><script>", "http://n/*/x{}</style>", "http://n/<!--<script>-->", "http://n/a b\n\u2028'\"`", ""])
def test_nothing_ends_the_comment_or_the_element(before: str, after: str, media_type: str, new: str) -> None:
    done = absolve.rewrite(f"{before}a.map{after}", media_type=media_type, policy=lambda _: new)
    (link,) = absolve.links(done, media_type=media_type)
    assert done == before + link.reference + after
    assert link.reference == "a.map" if not new else link.reference.startswith("http://n/")
    assert not absolve.verify(f"{before}a.map{after}", done, media_type=media_type, policy=lambda _: new)
