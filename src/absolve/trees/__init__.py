"""Make the links of a parsed tree absolute in place, or list them: trees of lxml, html5lib and BeautifulSoup.

In: a tree and its retrieval URL. Out: the same tree with other values of attributes and texts, rows of links, or the
base URL (RFC 1808 section 3). Link sites, bases, resolvers and policies are the same as in `absolve.rewrite` and
`absolve.links`; this package reads and writes nodes, with one adapter per kind of tree. A tree library is imported only
for its own trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.core import arguments
from absolve.core.errors import UsageError
from absolve.core.model import BaseClaim, Layer
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import CHOICES, Settings
from absolve.rewriting.policy import checked
from absolve.trees.reading import TreeOptions as _TreeOptions
from absolve.trees.reading import read, rows, write
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from absolve.core.model import BaseURL
    from absolve.core.options import TreeOptions
    from absolve.core.protocols import URLObject
    from absolve.inventory.columns import Row
    from absolve.rewriting.policy import Policy
    from absolve.trees.adapters import Adapter
    from absolve.trees.reading import TreeEntity

__all__ = ["base", "links", "make_links_absolute"]


def __dir__() -> list[str]:
    """Return the public names, for `dir`, `help` and completion."""
    return [*__all__]


Tree = TypeVar("Tree")

# Module and name of a tree's class, or of a base class -> the class in `adapters`.
KINDS: Final = {
    ("lxml.etree", "_Element"): "Lxml",
    ("lxml.etree", "_ElementTree"): "Lxml",
    ("xml.etree.ElementTree", "Element"): "ElementTree",
    ("xml.etree.ElementTree", "ElementTree"): "ElementTree",
    ("xml.dom.minidom", "Node"): "Dom",
    ("bs4.element", "Tag"): "Soup",
}
_OPTIONS: Final = frozenset((*CHOICES, "name", "charset"))


def make_links_absolute(
    tree: Tree,
    url: str | URLObject | None = None,
    resolve_base_href: bool = True,  # noqa: FBT002 - lxml's call
    handle_failures: str | None = None,
    *,
    base_url: str | URLObject | None = None,
    policy: Policy | None = None,
    **options: Unpack[TreeOptions],
) -> Tree:
    """Make every link of a tree absolute, or as `policy` returns it, in place; return the same tree.

    `tree` is an element or a document of lxml, html5lib (etree, lxml, dom) or BeautifulSoup. For an element, only the
    links in it change, with the bases of its document. `url` is the retrieval URL; the default is lxml's own
    `base_url`. `options`: profile, fragments, base, max_depth, max_links, max_size, max_url and
    max_rows_bytes as for `absolve.rewrite`, charset (for queries in the whatwg profile) and name (for
    messages). Raise TypeError for an unknown kind of tree and as `absolve.rewrite` does, UsageError for an invalid
    value of an option. Raise DocumentError, with the tree unchanged, for more links than max_links, or more than
    max_size bytes to write.

    The signature is the same as in `lxml.html.make_links_absolute`, with these differences: the tree is changed, not a
    copy; the first base element gives the base, not the last, and it is kept and made absolute itself; `#fragment`,
    `mailto:` and the like stay (docs/decisions.md, S1 and S3); srcset, ping, style and others are parsed by their
    grammars; a tree without any base is no error; malformed references stay and raise nothing (lxml's
    `handle_failures="ignore"`; "discard" is not supported). With `resolve_base_href=False` base elements are ignored
    and stay unchanged.

    For example, `make_links_absolute(html5lib.parse(page), "http://h/")` changes `href="a"` to `href="http://h/a"`.
    """
    if handle_failures not in {None, "ignore"}:
        raise UsageError(f"handle_failures must be None or 'ignore', not {handle_failures!r}: malformed links stay")
    call = "absolve.trees.make_links_absolute()"
    asked = checked(policy) if policy is not None else None
    entity = _entity(tree, url if url is not None else base_url, options, call, bases=resolve_base_href)
    write(entity, asked)
    return tree


def links(tree: Any, url: str | URLObject | None = None, **options: Unpack[TreeOptions]) -> Iterator[Row]:
    """Return an iterator over the links of a tree in tree order, as rows of the inventory.

    Arguments, options and errors are the same as for `make_links_absolute`. Trees have no byte offsets: `column` is 0,
    `start` and `end` are -1, and `line` is the element's line, 0 if the tree does not record it. For links in a srcdoc
    all four refer to its text. `document` is the option `name`.
    """
    return rows(_entity(tree, url, options, "absolve.trees.links()"))


def base(tree: Any, url: str | URLObject | None = None, **options: Unpack[TreeOptions]) -> BaseURL:
    """Return the base URL of a tree, for example its `<base href>`, with its layer and the outcome of every claim."""
    return _entity(tree, url, options, "absolve.trees.base()").bases.base


def _entity(
    tree: Any, url: str | URLObject | None, choices: TreeOptions, call: str, *, bases: bool = True
) -> TreeEntity:
    options: dict[str, Any] = {**choices}
    arguments.check_options(options, _OPTIONS, call, ("url",))
    adapter = _adapter(tree)
    words = {option: options.pop(option, None) for option in ("name", "charset")}
    texts = {option: arguments.text_of(value, option) for option, value in words.items() if value is not None}
    settings = Settings(**arguments.choices_of(options, CHOICES)).checked()
    settings = settings._replace(data_urls=True) if call == "absolve.trees.links()" else settings
    claim = retrieval_claim(arguments.url_of(url), "url=") if url is not None else _own_claim(adapter.url(tree))
    return read(adapter, tree, settings, _TreeOptions(claim, **texts, bases=bases))


def _own_claim(url: str | None) -> BaseClaim | None:
    """Return the claim of the URL that a tree itself records; None for a local path, which is no retrieval URL."""
    if url is None or "//" not in url or not has_scheme(url) or is_malformed(url) or url[:5].lower() == "file:":
        return None
    return BaseClaim(Layer.RETRIEVAL, url, "URL of the tree")


def _adapter(tree: Any) -> Adapter:
    for kind in type(tree).__mro__:
        found = KINDS.get((kind.__module__, kind.__name__))
        if found is not None:
            from absolve.trees import adapters  # it imports xml.dom

            adapter: Adapter = getattr(adapters, found)()
            return adapter
    known = "lxml, html5lib (etree, lxml, dom) and BeautifulSoup trees are"
    raise TypeError(
        f"text has no tree: absolve.rewrite and absolve.links take it; {known} taken here"
        if isinstance(tree, (bytes, str))
        else f"{type(tree).__module__}.{type(tree).__qualname__} is no tree that absolve knows; {known}"
    )
