"""Plant faults of many kinds into a moved documentation site, the same ones for the same seed.

In: the pages of the old and of the new version. Out: two folders, a map, and for each fault the findings that it explains.
"""

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

OLD = "https://docs.old.example/"
NEW = "https://docs.new.example/guide/"
HOWTOS = "<!DOCTYPE html><html lang=en><head><title>Howtos</title></head><body><h1>Howtos</h1>{links}</body></html>"
HEAD = '<link rel="canonical" href="{url}"><link rel="stylesheet" href="{up}site/style.css"><script src="{up}site/menu.js"></script>'
FOOT = '<footer><a href="{up}index.html">Contents</a></footer>'
STYLE = "footer { background: url(paper.png) }\n"
SCRIPT = "const contents = 'index.html';\n"
PICTURE = b"\x89PNG\r\n\x1a\n"


# The columns of a table by which its findings are known.
COLUMNS = {"links": ("verdict", "reference"), "urls": ("verdict", "url"), "pages": ("verdict", "url"), "rules": ("finding", "text"), "mentions": ("kind", "mention")}
QUIET = {None, "ok", "same", "external", "kept", "mapped", "unused"}


class Expected(NamedTuple):
    """Findings of one fault: their table, and patterns of their verdict and of a column, that of `COLUMNS` if none is given."""

    table: str
    verdict: str
    pattern: str
    column: str | None = None

    def fits(self, table: str, row: Mapping[str, Any]) -> bool:
        verdict, column = COLUMNS[table]
        return table == self.table and bool(re.fullmatch(self.verdict, row[verdict]) and re.search(self.pattern, row[self.column or column]))


def findings(tables: Mapping[str, list[dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of all tables that are findings, with the name of their table."""
    return [(table, row) for table, (verdict, _) in COLUMNS.items() for row in tables[table] if row[verdict] not in QUIET]


class Site:
    """A site that was moved, with a template of its own, before and after faults are planted."""

    def __init__(self, old: Mapping[str, bytes], new: Mapping[str, bytes], seed: int = 1808) -> None:
        old, new = with_index(old), with_index(new)
        self.old = dict(old)
        self.new = {name: templated(name, data) if name.endswith(".html") else data for name, data in new.items()}
        self.listed = [name for name in new if name.endswith(".html")]
        self.new |= {"site/style.css": STYLE.encode(), "site/menu.js": SCRIPT.encode(), "site/paper.png": PICTURE}
        self.rules: list[str] = []
        self.faults: dict[str, list[Expected]] = {}
        self.chance = random.Random(seed)  # noqa: S311 - the same faults each time
        self.counts = links_to(new)
        plain = [name for name, data in new.items() if old.get(name) and "/" not in name and 0 < self.counts.get(name, 0) <= 5 and len(data) > 3000]
        self.plain = sorted(name for name in plain if "index" not in name)
        self.chance.shuffle(self.plain)
        self.spare = [name for name in new if name not in self.plain]

    def page(self) -> str:
        """Return a page at the root that no other fault has."""
        return self.plain.pop()

    def add(self, name: str, html: str, before: str = "</body>") -> None:
        self.edit(name, before, html + before)

    def edit(self, name: str, text: str, other: str) -> None:
        assert text.encode() in self.new[name]
        self.new[name] = self.new[name].replace(text.encode(), other.encode(), 1)

    def remove(self, name: str) -> str:
        del self.new[name]
        self.listed.remove(name)
        return name

    def plant(self, name: str, *expected: tuple[str, ...]) -> None:
        self.faults[name] = [Expected(*one) for one in expected]

    def write(self, folder: Path) -> None:
        places = "".join(f"<url><loc>{NEW}{name}</loc></url>\n" for name in self.listed)
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
        for side, files in (("old", self.old), ("new", self.new | {"sitemap.xml": sitemap.encode()})):
            for name, data in files.items():
                path = folder / side / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        (folder / "_redirects").write_text("".join(f"{rule}\n" for rule in self.rules), "utf-8")


def with_index(pages: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return pages with a home page and an index of the folder `howto`."""
    links = "".join(f'<p><a href="{name[6:]}">{name[6:-5]}</a></p>' for name in sorted(pages) if name.startswith("howto/"))
    return {"index.html": pages["git.html"], **pages, "howto/index.html": HOWTOS.format(links=links).encode()}


def templated(name: str, data: bytes) -> bytes:
    """Return a page in the new template."""
    up = "../" * name.count("/")
    head = HEAD.format(url=NEW + re.sub(r"(^|/)index\.html$", r"\1", name), up=up).encode()
    data = re.sub(rb"(?i)</head>", lambda found: head + found[0], data, count=1)
    return re.sub(rb"(?i)</body>", FOOT.format(up=up).encode() + b"</body>", data, count=1)


def links_to(pages: Mapping[str, bytes]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for data in pages.values():
        for name in set(re.findall(rb'href="([\w.-]+\.html)', data)):
            counts[name.decode()] = counts.get(name.decode(), 0) + 1
    return counts


def planted(site: Site) -> Site:
    """Plant faults in single links, in the heads of pages, in the template, in pages, and in the map."""
    in_links(site)
    in_heads(site)
    in_template(site)
    in_pages(site)
    in_map(site)
    return site


def in_links(site: Site) -> None:
    for name, reference, verdict in (
        ("a typo in a link", "git-comit.html", "broken"),
        ("wrong letter case", "Git-Add.html", "case"),
        ("a folder without its slash", "howto", "slash"),
        ("a page with a slash", "git-log.html/", "slash"),
        ("escaped twice", "git%252Dtag.html", "encoding"),
        ("a link that leaves the folder", "/git-diff.html", "broken"),
        ("a link to the old host", f"{OLD}git-show.html", "leftover"),
        ("a link to the own host by http", f"{NEW.replace('https', 'http')}git-push.html", "insecure"),
        ("a link to localhost", "http://localhost:8000/git-pull.html", "local"),
        ("a link to a file", "file:///srv/manual/git-fetch.html", "local"),
        ("a placeholder", "{{ site.url }}/git-clone.html", "placeholder"),
        ("a fragment that never was", "git-rebase.html#no-such-place", "fragment"),
    ):
        site.add(site.page(), f'<p><a href="{reference}">see also</a></p>')
        site.plant(name, ("links", verdict, f"^{re.escape(reference)}$"))
    site.add(site.page(), '<img src="site/diagram.png" alt="a diagram">')
    site.plant("a picture that is missing", ("links", "broken", "^site/diagram.png$"))
    site.add(site.page(), f'<img src="{NEW.replace("https", "http")}site/paper.png" alt="paper">')
    site.plant("a picture by http", ("links", "mixed", "^http://.*paper.png$"))
    page, anchor = linked_anchor(site)
    site.edit(page, f'="{anchor}"', f'="renamed-{anchor}"')
    site.plant("a heading with another id", ("links", "fragment", f"(^|/){re.escape(page)}#{re.escape(anchor)}$|^#{re.escape(anchor)}$"))


def linked_anchor(site: Site) -> tuple[str, str]:
    """Return a page and a place in it to which another page links."""
    found = set()
    for name, data in site.new.items():
        for page, anchor in re.findall(rb'href="([\w.-]+\.html)#([\w-]+)"', data):
            if (target := page.decode()) in site.spare and target != name and b'="%s"' % anchor in site.new[target]:
                found.add((target, anchor.decode()))
    page, anchor = site.chance.choice(sorted(found))
    site.spare.remove(page)
    return page, anchor


def in_heads(site: Site) -> None:
    page = site.page()
    site.add(page, '<meta name="robots" content="noindex">', "</head>")
    site.plant("noindex on a page", ("pages", "noindex", page), ("pages", "sitemap", f"{page}$"))
    page = site.page()
    site.edit(page, f"{NEW}{page}", f"{OLD}{page}")
    site.plant("a canonical link to the old host", ("pages", "canonical", page), ("links", "leftover", f"^{OLD}{page}$"))
    page = site.page()
    site.edit(page, f"{NEW}{page}", f"{NEW}manual/{page}")
    site.plant("a canonical link that leads nowhere", ("pages", "canonical", page), ("links", "broken", f"/manual/{page}$"))
    page, other = site.page(), site.page()
    site.add(page, f'<link rel="alternate" hreflang="en" href="{NEW}{page}"><link rel="alternate" hreflang="de" href="{NEW}{other}">', "</head>")
    site.plant("a language without a return link", ("pages", "hreflang", other))
    page = site.page()
    site.add(page, '<base href="/">', "<title>")
    site.plant("a wrong base", ("links", "broken", f"/{page}$", "document"))


def in_template(site: Site) -> None:
    for name in [name for name in site.listed if b"</footer>" in site.new[name]]:
        site.edit(name, "</footer>", f' <a href="{OLD}">The old manual</a></footer>')
    site.plant("a link to the old host in the template", ("links", "leftover", f"^{OLD}$"))
    site.edit("site/style.css", "paper.png", "textures/paper.png")
    site.plant("a picture of the style sheet that is missing", ("links", "broken", "^textures/paper.png$"))
    site.edit("site/menu.js", "'index.html'", f"'{OLD}search.json'")
    site.plant("the old host in a script", ("mentions", "script", f"{OLD}search.json"))


def in_pages(site: Site) -> None:
    page = site.page()
    site.new[f"moved-{page}"] = site.new[page].replace(f"{NEW}{page}".encode(), f"{NEW}moved-{page}".encode())
    site.remove(page)
    site.listed.append(f"moved-{page}")
    for name in site.listed:
        site.new[name] = site.new[name].replace(f'href="{page}'.encode(), f'href="moved-{page}'.encode())
    site.plant("a renamed page without a redirect", ("urls", "moved", f"/{page}$"))
    page = site.remove(site.page())
    site.plant("a lost page", ("urls", "lost", f"/{page}$"), ("links", "broken", f"(^|/){page}(#|$)"))
    page = site.page()
    site.new["unlinked.html"] = templated("unlinked.html", b"<!DOCTYPE html><html lang=en><head><title>Unlinked</title></head><body><p>Nobody links here.</p></body></html>")
    site.plant("an orphan that the sitemap lacks", ("pages", "orphan", "/unlinked.html$"), ("pages", "sitemap", "/unlinked.html$"))
    page = site.page()
    site.new[page] = re.sub(rb'<link rel="canonical"[^>]*>', b"", site.new[page])
    site.new[f"copy-of-{page}"] = site.new[page]
    site.listed.append(f"copy-of-{page}")
    site.add("index.html", f'<a href="copy-of-{page}">copy</a>')
    site.plant("the same page twice", ("pages", "duplicate", f"/copy-of-{page}$"))
    page, other = site.page(), site.page()
    for one, text in ((page, site.new[other]), (other, site.new[page])):
        site.new[one] = re.sub(rb'<link rel="canonical"[^>]*>', f'<link rel="canonical" href="{NEW}{one}">'.encode(), text)
    site.plant("two pages that changed places", ("urls", "replaced", f"/({page}|{other})$"))
    site.listed.append("changes.html")
    site.plant("a page of the sitemap that is missing", ("pages", "sitemap", "/changes.html$"), ("links", "broken", "/changes.html$"))
    site.new["_headers"] = b"/guide/technical/pack-*\n  X-Robots-Tag: noindex\n"
    site.plant("a header against indexing", ("pages", "noindex", "/technical/pack-"), ("pages", "sitemap", "/technical/pack-"))


def in_map(site: Site) -> None:
    one, other, nothing = (site.remove(site.page()) for _ in range(3))
    site.rules = [
        f"/{one} /{other} 301",
        f"/{other} /{one} 301",
        f"/{nothing} {NEW}manual/{nothing} 301",
        f"/intro.html {NEW}introduction.html 301",
        f"/guide/introduction.html {NEW}gittutorial.html 301",
        f"/howto/* {NEW}howto/:splat 301",
        f"/howto/new-command.html {NEW}howto/index.html 301",
    ]
    both = f"({one}|{other})"
    site.plant("redirects in a circle", ("rules", "loop", f"^/{both}"), ("urls", "lost", f"/{both}$"), ("links", "broken|loop", f"(^|/){both}(#|$)"))
    site.plant("a redirect to nothing", ("rules", "leads to nothing", f"^/{nothing}"), ("urls", "lost", f"/{nothing}$"), ("links", "broken", f"(^|/){nothing}(#|$)"))
    site.plant("a chain of redirects", ("rules", "chain", "^/intro.html"))
    site.plant("a redirect that never applies", ("rules", "shadowed by \\d+", "^/howto/new-command.html"))
    page = site.remove(site.page())
    site.new[f"other-{page}"] = site.old[page]
    site.add("index.html", f'<a href="other-{page}">other</a>')
    site.listed.append(f"other-{page}")
    site.rules.append(f"/{page} {NEW}git-add.html 301")
    site.plant("a redirect to the wrong page", ("urls", "replaced", f"/{page}$"), ("links", "broken", f"(^|/){page}(#|$)"))
    home = [site.remove(site.page()) for _ in range(6)]
    site.rules += [f"/{name} {NEW} 301" for name in home]
    every = "|".join(home)
    site.plant("all to the home page", ("urls", "lost", f"/({every})$"), ("links", "redirected|broken", f"(^|/)({every})(#|$)"))
