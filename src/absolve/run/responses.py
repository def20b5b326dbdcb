"""HTTP responses of other packages as documents: httpx, requests, Scrapy, and `urllib.request`; none is imported.

In: a response with its body, its URL after redirects, and its header fields. Out: a `Document`, or an item for each
link, for the pipelines of Scrapy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from absolve import api
from absolve.core import arguments
from absolve.core.model import Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias, Unpack

    from absolve.core.options import Options


class _WithContent(Protocol):
    """A response of httpx or requests."""

    @property
    def url(self) -> Any: ...
    @property
    def headers(self) -> Any: ...
    @property
    def content(self) -> Any: ...


class _WithBody(Protocol):
    """A response of Scrapy."""

    @property
    def url(self) -> Any: ...
    @property
    def headers(self) -> Any: ...
    @property
    def body(self) -> Any: ...


class _Readable(Protocol):
    """A response of urllib.request."""

    @property
    def url(self) -> Any: ...
    @property
    def headers(self) -> Any: ...
    def read(self) -> bytes: ...


if TYPE_CHECKING:
    Response: TypeAlias = _WithContent | _WithBody | _Readable


def document_of(response: Response) -> Document:
    """Return the document in a response, with its URL, its media type and charset, and the bases of its header.

    The body must be there and decoded, as these packages do by default. Raise TypeError for any other object.
    """
    for attribute in ("content", "body", "read"):
        if hasattr(response, attribute) and hasattr(response, "headers") and hasattr(response, "url"):
            found = getattr(response, attribute)
            url = arguments.url_of(response.url)
            data = arguments.data_of(found() if attribute == "read" else found, "absolve.document_of()")
            return Document(data, name=url, url=url, headers=response.headers)
    kind = f"{type(response).__module__}.{type(response).__qualname__}"
    raise TypeError(f"absolve.document_of() takes a response of httpx, requests, Scrapy or urllib, not {kind}")


def items(response: Response, **options: Unpack[Options]) -> Iterator[dict[str, Any]]:
    """Yield a dict for each link of a response, with the columns of the inventory: items of a Scrapy spider.

    `document` is the URL of the response. Options and errors are those of `absolve.links`.
    """
    return (row._asdict() | {"base_layer": row.base_layer.label} for row in api.links(document_of(response), **options))
