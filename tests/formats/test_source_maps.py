"""Comments that name a source map, in scripts and style sheets: ECMA-426, "Linking through inline annotations"."""

import absolve
from absolve.formats import registry, sniffing

URL = "http://h/d/a"
SCRIPT = '"use strict";\r\nexports.a = 1;\r\n//# sourceMappingURL=index.js.map'


def test_a_script_without_one_is_no_document() -> None:
    assert sniffing.sniff(b"var a;", "a.js") is None
    assert sniffing.sniff(SCRIPT.encode(), "a.JS") == registry.JAVASCRIPT
    assert sniffing.sniff(SCRIPT.encode(), "a.ts") is None


def test_the_source_map_of_a_script_with_a_long_line_or_many_lines_is_a_link_and_one_inside_is_none() -> None:
    for text in ("a/b;" * 5000, "a('//x');\n" * 5000):
        assert [row.target for row in absolve.links(f"{text}//# sourceMappingURL=a.map", name="a.js", url=URL)] == ["http://h/d/a.map"]
    inside = "//# sourceMappingURL=data:application/json;base64," + "e30=" * 2000
    assert not list(absolve.links(inside, media_type="text/javascript", url=URL))


def test_verify_sees_another_source_map() -> None:
    sheet = "a{b:c}\n/*# sourceMappingURL=style.css.map */"
    for text, name in ((SCRIPT, "a.js"), (sheet, "a.css"), (f"<base href=/b/><style>{sheet}</style><script>{SCRIPT}</script>", "a.html")):
        right = absolve.rewrite(text, url=URL, name=name)
        assert absolve.verify(text, right.replace(".map", ".mop"), url=URL, name=name)
