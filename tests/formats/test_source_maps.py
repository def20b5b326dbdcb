"""Comments that name a source map, in scripts and style sheets: ECMA-426, "Linking through inline annotations"."""

import re

import pytest

import absolve
from absolve.formats import registry, sniffing

URL = "http://h/d/a"

# As tools write them; `%` is before the URL.
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
    "postcss": "a{b:c}\n/*# sourceMappingURL=%style.css.map */",
    "less": "a{b:c}/*# sourceMappingURL=%a.css.map?v=2*/\r\n",
    "before 2013": "a{b:c}\n/*@ sourceMappingURL=%a.css.map */",
    "last": "/*# sourceMappingURL=a.map */ a{} /*# sourceMappingURL=%b.map */ /* (c) it's */ /*# sourceURL=x */",
    "string": "a::after{content:'/*# sourceMappingURL=a.map */'}",
    "code behind it": "/*# sourceMappingURL=a.map */ a{b:c}",
    "open": "a{b:c}/*# sourceMappingURL=a.map",
    "lines": "a{b:c}/* sourceMappingURL=a.map */ /*\n# sourceMappingURL=a.map\n*/",
}


def assert_listed(text: str, **given: str) -> None:
    """Assert that the links are those behind `%`, and that no rewrite changes them: digests of the text may be known."""
    plain = text.replace("%", "")
    wanted = [absolve.resolve(URL, found) for found in re.findall("%(/?[^ *#\\s\u2029)]*)", text)]
    rows = [row for row in absolve.links(plain, url=URL, **given) if row.attribute == "sourcemappingurl"]  # type: ignore[arg-type]
    assert [(row.target or "").partition("#")[0] for row in rows] == wanted
    assert absolve.rewrite(plain, url=URL, policy=lambda _: "http://n/", **given) == plain  # type: ignore[call-overload]


@pytest.mark.parametrize("form", SCRIPTS)
@pytest.mark.parametrize("name", ["a.js", "a.mjs"])
def test_the_source_map_of_a_script_is_a_link(form: str, name: str) -> None:
    assert_listed(SCRIPTS[form], name=name)
    assert_listed(SCRIPTS[form], media_type="application/javascript")


@pytest.mark.parametrize("form", NONE)
def test_what_the_algorithm_does_not_see_is_no_link(form: str) -> None:
    assert not list(absolve.links(NONE[form], media_type="text/javascript", url=URL))


@pytest.mark.parametrize("form", SHEETS)
def test_the_source_map_of_a_style_sheet_is_a_link(form: str) -> None:
    assert_listed(SHEETS[form], name="a.css")


def test_a_script_without_one_is_no_document() -> None:
    assert sniffing.sniff(b"var a;", "a.js") is None
    assert sniffing.sniff(SCRIPTS["tsc"].encode(), "a.JS") == registry.JAVASCRIPT
    assert sniffing.sniff(SCRIPTS["tsc"].encode(), "a.ts") is None


@pytest.mark.parametrize("media_type", ["application/javascript", "text/javascript; charset=utf-8", "application/x-javascript"])
def test_scripts_in_responses_are_read(media_type: str) -> None:
    body = "var a;\n//# sourceMappingURL=%a.map\n"
    response = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n"
    (link,) = absolve.links(response + body.replace("%", ""), url=URL)
    assert (link.element, link.attribute, link.kind, link.target) == ("javascript", "sourcemappingurl", "other", "http://h/d/a.map")


PAGE = """<base href=/b/><style>a{b:c}
/*# sourceMappingURL=%s.map */</style><script>a<b
//# sourceMappingURL=%i.map
</script><script type=module>//<![CDATA[
//# sourceMappingURL=%m.map
//]]></script><script type=text/template>//# sourceMappingURL=no.map</script><script src=x></script>"""


def test_inline_scripts_and_sheets_name_theirs_by_the_url_of_the_page() -> None:
    plain = PAGE.replace("%", "")
    rows = [row for row in absolve.links(plain, url=URL, media_type="text/html") if row.attribute == "sourcemappingurl"]
    assert [row.target for row in rows] == ["http://h/d/s.map", "http://h/d/i.map", "http://h/d/m.map"]
    done = absolve.rewrite(plain, url=URL, media_type="text/html")
    assert done == plain.replace("/b/", "http://h/b/").replace("src=x", "src=http://h/b/x")
    assert not absolve.verify(plain, done, url=URL, media_type="text/html")


XHTML = """<html xmlns="http://www.w3.org/1999/xhtml"><head><style>a{b:c}/*# sourceMappingURL=%s.map */</style><script><![CDATA[a<b
//# sourceMappingURL=%i.map
]]></script><script>a &lt; b
/*# sourceMappingURL=%j.map?a&amp;b */</script></head></html>"""


def test_inline_scripts_of_xhtml_too() -> None:
    plain = XHTML.replace("%", "")
    rows = list(absolve.links(plain, url=URL, media_type="application/xhtml+xml"))
    assert [row.target for row in rows] == ["http://h/d/s.map", "http://h/d/i.map", "http://h/d/j.map?a&b"]
    assert absolve.rewrite(plain, url=URL, media_type="application/xhtml+xml") == plain


def test_verify_sees_another_source_map() -> None:
    for text, name in ((SCRIPTS["tsc"], "a.js"), (SHEETS["sass"], "a.css"), (PAGE, "a.html")):
        right = absolve.rewrite(text.replace("%", ""), url=URL, name=name)
        assert absolve.verify(text.replace("%", ""), right.replace(".map", ".mop"), url=URL, name=name)
