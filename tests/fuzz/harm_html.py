"""Hostile HTML: links in every context, with references that are escaped for it, or not."""

import json
from collections.abc import Callable
from typing import Final

from harm_text import OF_PLACES, Choices, base, hostile, reference

Context = Callable[[Choices], str]

REFERENCES: Final = {'"': "&#34;", "'": "&#39;"}
_NEVER_RAW: Final = "\"'`=<> \t\n\f\r"  # in unquoted values
_NEVER_IN_URL: Final = " \t\"'()"


def attribute(choices: Choices, value: str, quote: str | None = None) -> str:
    """Return a value as an author writes it in an attribute."""
    if quote is None:
        quote = choices.of(('"', '"', "'", ""))
    careless = choices.one_in(40)
    found = []
    for point in value:
        if point == "&":
            found.append(choices.of(("&amp;", "&amp;", "&amp;", "&#38;", "&")))
        elif (point == quote or (not quote and point in _NEVER_RAW)) and not careless:
            found.append(_referred(choices, point))
        elif point in "<>\"'`=" or point < " ":
            found.append(_referred(choices, point) if choices.below(3) else point)
        else:
            found.append(point)
    return f"{quote}{''.join(found)}{quote}"


def _referred(choices: Choices, point: str) -> str:
    named = {"<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\n": "&NewLine;", "\t": "&Tab;"}
    number = ord(point)
    return choices.of((named.get(point, f"&#{number};"), f"&#{number};", f"&#x{number:X};"))


def srcset(choices: Choices) -> str:
    candidates = [f"{reference(choices)}{choices.of((' 2x', ' 100w', '', ' 1x (a, b)'))}" for _ in range(1 + choices.below(3))]
    return choices.of((", ", ",", " , ")).join(candidates)


def css_string(choices: Choices, value: str, quote: str) -> str:
    """Return a value as an author writes it in a style sheet; `quote` is empty for an unquoted url()."""
    found = []
    for point in value:
        if point in "\\\n\r\f" + (quote or _NEVER_IN_URL) or (point < " " and not quote):
            found.append(f"\\{ord(point):x} ")
        elif point in "<>]-&\x1b\x0e/" and choices.below(2):
            found.append(choices.of((f"\\{ord(point):x} ", f"\\{ord(point):06X}", f"\\{ord(point):x}\n")))
        else:
            found.append(point)
    return f"{quote}{''.join(found)}{quote}"


def css_url(choices: Choices) -> str:
    quote = choices.of(('"', "'", ""))
    name = choices.of(("url", "URL", "src")) if quote else "url"
    return f"{name}({css_string(choices, reference(choices), quote)})"


def declarations(choices: Choices) -> str:
    return f"a:b;background:{css_url(choices)};c:{choices.of(('d', css_url(choices)))}"


def sheet(choices: Choices) -> str:
    quote = choices.of(('"', "'"))
    first = choices.of(("", f"@import {css_string(choices, reference(choices), quote)};", f"@import {css_url(choices)} all;"))
    sets = f"x:image-set({css_string(choices, reference(choices), quote)} 1x)"
    return f"{first}p{{{declarations(choices)}}}/* c */q{{{choices.of(('', sets))}}}r{{}}"


def json_string(choices: Choices, value: str) -> str:
    """Return a value as a JSON string, sometimes with unnecessary escapes."""
    text = json.dumps(value, ensure_ascii=choices.one_in(2))
    text = text.replace("/", "\\/") if choices.one_in(4) else text
    if choices.below(6):
        text = text.replace("<", "\\u003c")
    return text.replace(">", "\\u003E") if choices.one_in(2) else text


def import_map(choices: Choices) -> str:
    front = choices.of(("./", "/", "../", "http://h.example/"))
    value = json_string(choices, front + reference(choices))
    scope = json_string(choices, choices.of(("./", "/")) + reference(choices))
    return choices.of((f'{{"imports":{{"a":{value}}}}}', f'{{"imports": {{{value}: {value}}}, "scopes": {{{scope}: {{"b": {value}}}}}}}'))


def speculation_rules(choices: Choices) -> str:
    return f'{{"prefetch":[{{"source":"list","urls":[{json_string(choices, reference(choices))}, "y"]}}]}}'


def json_ld(choices: Choices) -> str:
    return f'{{"@context":"https://schema.org","@type":"Article","url":{json_string(choices, reference(choices))},"image":["i"],"name":"n"}}'


def script(kind: str, make: Context) -> Context:
    return lambda choices: f"<script type={kind}>{make(choices)}</script>"


def single(quote: str) -> Context:
    """Return an element with one URL in an attribute with these quotes."""
    patterns = (
        "<a href={}>t</a>", "<a x=y href={} z>t</a>", "<img src={}>", "<img src={} alt='a'>",
        "<form action={}>f</form>", "<iframe src={}></iframe>", "<script src={}></script>",
        "<link rel=stylesheet href={}>", "<video poster={}></video>", "<object data={}></object>", "<q cite={}>q</q>",
        "<button formaction={}>b</button>", "<base href={}><a href=b>t</a>", "<body background={}>",
        "<a href={}\t>t</a>", "<a href={}/>t</a>", "<applet codebase={} code=c></applet>",
        "<meta property=og:image content={}>",
    )
    return lambda choices: choices.of(patterns).format(attribute(choices, reference(choices), quote))


def absent(choices: Choices) -> str:
    """Return attributes without a value, and text next to them."""
    value = attribute(choices, reference(choices))
    return choices.of(("<a href>t</a>", "<form action>f</form>", "<a href>{0}</a>", "<img src alt={0}>", "<a href= >t</a>")).format(value)


def refresh(choices: Choices) -> str:
    quote = choices.of(("", "'", '"'))
    value = choices.of(("0;url=", "5; URL=", "0,", "1 ;url =", "0;")) + quote + reference(choices) + quote
    return f"<meta http-equiv=refresh content={attribute(choices, value)}>"


def ping(choices: Choices) -> str:
    return f"<a ping={attribute(choices, f'{reference(choices)} {reference(choices)}')}>t</a>"


def archive(choices: Choices) -> str:
    value = f"{reference(choices)}, {reference(choices)}"
    return f"<applet archive={attribute(choices, value)} codebase={attribute(choices, reference(choices))}></applet>"


def lazy(choices: Choices) -> str:
    return f"<img data-src={attribute(choices, reference(choices))} data-srcset={attribute(choices, srcset(choices))}>"


def style_element(choices: Choices) -> str:
    return f"<style>{_unended(sheet(choices), 'style')}</style>"


def _unended(text: str, name: str) -> str:
    """Return the value as written by an author who avoids ending the element."""
    return text.replace(f"</{name}", f"<\\/{name}")


ATTRIBUTES: Final[tuple[Context, ...]] = (
    *(single(quote) for quote in ('"', "'", "")),
    *(absent, refresh, ping, archive, lazy, style_element, script("importmap", import_map)),
    lambda choices: f"<img srcset={attribute(choices, srcset(choices))}>",
    lambda choices: f"<p style={attribute(choices, declarations(choices))}>t</p>",
)


AROUND: Final = (
    ("<noscript>", "</noscript>"), ("<svg><desc>", "</desc></svg>"), ("<!--[if IE]>", "<![endif]-->"), ("<template>", "</template>"),
    ("<p title='</noscript>'>", "</p>"), ('<noscript><p title="</noscript>">', ""), ("<select><option>", "</select>"),
    ("<title>", "</title>"), ("<svg><style><![CDATA[a]]></style><a>", "</a></svg>"), ("<object>", "</object>"),
    ("<noframes><a href=x></noframes>", ""),
)


def some(choices: Choices) -> str:
    """Return a context for a link, which is sometimes inside another one."""
    front, behind = choices.of(AROUND) if choices.one_in(4) else ("", "")
    if "noscript" in front:
        choices.ends += OF_PLACES["noscript"]
    return f"{front}{choices.of(ATTRIBUTES)(choices)}{behind}"


def srcdoc(depth: int) -> Context:
    def make(choices: Choices) -> str:
        within = choices.one_in(3)
        if within:
            choices.ends += OF_PLACES["noscript"]
        inner = f"<noscript>{some(choices)}</noscript>" if within else some(choices)
        for _ in range(depth):
            quote = choices.of(('"', "'"))
            inner = inner.replace("&", "&amp;").replace(quote, REFERENCES[quote])
            inner = f"<iframe srcdoc={quote}{inner}{quote}></iframe>"
        return inner

    return make


def around(front: str, behind: str, make: Context = some) -> Context:
    return lambda choices: f"{front}{make(choices)}{behind}"


def head(choices: Choices) -> str:
    if choices.one_in(2):
        return style_element(choices)
    return f"<link rel=stylesheet href={attribute(choices, reference(choices))}>"


def svg_link(choices: Choices) -> str:
    value = attribute(choices, reference(choices))
    paint = attribute(choices, f"url({css_string(choices, reference(choices), '')})")
    return choices.of((
        "<image href={0} />", "<a xlink:href={0}>t</a>", "<image fill={1} href={0} />", "<use xlink:href={0} />",
        "<style>p{{}}</style><a href={0}>t</a>",
    )).format(value, paint)


CONTEXTS: Final[dict[str, Context]] = {
    "double quotes": single('"'),
    "single quotes": single("'"),
    "unquoted": single(""),
    "no value": absent,
    "srcset": lambda choices: f"<img srcset={attribute(choices, srcset(choices))}>",
    "meta refresh": refresh,
    "ping": ping,
    "archive": archive,
    "style attribute": lambda choices: f"<p style={attribute(choices, declarations(choices))}>t</p>",
    "style element": style_element,
    "srcdoc": srcdoc(1),
    "srcdoc twice": srcdoc(2),
    "srcdoc three times": srcdoc(3),
    "noscript in body": around("<p><noscript>", "</noscript>"),
    "noscript in head": around("<head><noscript>", "</noscript></head>", head),
    "template": around("<template>", "</template>"),
    "svg": around("<svg>", "</svg>", svg_link),
    "svg style": around("<svg><style>", "</style></svg>", lambda choices: sheet(choices).replace("<", "&lt;")),
    "svg style, CDATA": around("<svg><style><![CDATA[", "]]></style></svg>", lambda choices: sheet(choices).replace("]]>", "] ]>")),
    "svg, CDATA near": around("<svg><title><![CDATA[a]]></title>", "<desc><![CDATA[<b>]]></desc></svg>", svg_link),
    "svg foreignObject": around("<svg><foreignObject>", "</foreignObject></svg>"),
    "mathml": around("<math><mi href=", ">x</mi></math>", lambda choices: attribute(choices, reference(choices))),
    "import map": script("importmap", import_map),
    "speculation rules": script("speculationrules", speculation_rules),
    "JSON-LD": script("application/ld+json", json_ld),
    "lazy": lazy,
    "raw text near": around("<textarea><a href=x></textarea><noembed><a href=x></noembed><xmp>", "</xmp>"),
    "table": around("<table><tr><td>", "</table>"),
}


# Incomplete sequences that may precede the link in a decoder.
STATES: Final = (
    "<p>\x1b(J</p>", "<p>\x1b$BF|\x1b(B</p>", "<p>\x1b(I</p>", "<p title='\udc81'>", "\udc81", "<p>\x0e</p>", "日本",
    "\udc8f\udca1<p>",
)


def document(choices: Choices, name: str, *, label: str | None) -> str:
    """Return a page with the context in it; `label` is the charset that it declares."""
    front = choices.of(("<!doctype html>", "", "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'>"))
    front += f"<meta charset={label}>" if label else ""
    if choices.one_in(6):
        saved = base(choices).replace("--", "")
        front += choices.of((
            "<!-- saved from url=({0:04d}){1} -->",
            "<!--\n Page saved with SingleFile \n url: {1} \n saved date: x\n-->",
            "<!-- Mirrored from {1} by HTTrack Website Copier/3.x [XR&CO'2014], x -->",
        )).format(len(saved), saved)
    if choices.one_in(3):
        front += f"<base href={attribute(choices, base(choices))}>"
    if choices.one_in(5):
        front += choices.of(STATES)
    body = CONTEXTS[name](choices)
    tail = choices.of(("", '<p title="a\'b">t " \' > z</p><a href=last>l</a>', "--> ]]> <b title='x'>b</b>", hostile(choices)))
    return front + body + tail
