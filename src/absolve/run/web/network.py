"""The network: public addresses only, if asked; proxies; and the reason why a request has no response.

The address that is connected to counts, not an earlier resolution of its name.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING, Any, Final

import ada_url
import anyio
import httpcore

from absolve.core.errors import in_short
from absolve.run.web.exchange import credentials_in
from absolve.urls.access import is_public

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.run.web.exchange import Asking

ONLY_NAMED: Final = "and only a document names it"
_UNKNOWN: Final = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class NoAnswer(Exception):  # noqa: N818 - it is the outcome
    """Why there is no answer."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text


class PrivateAddressError(Exception):
    """A host has no public address."""


class PublicNetwork(httpcore.AsyncNetworkBackend):
    """A network without private addresses: a name is resolved once, and its public addresses are connected to."""

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature of httpcore
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a stream. Raise PrivateAddressError for a host without a public address, ConnectError otherwise."""
        try:
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        public = list(filter(is_public, addresses))
        if not public:
            raise PrivateAddressError(f"{host} has no public address: {', '.join(addresses)}")
        for last, address in enumerate(public, 1 - len(public)):
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if not last:
                    raise
        raise httpcore.ConnectError(host)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


def failure(url: ada_url.URL, error: Exception, asking: Asking) -> NoAnswer:
    """Return why a request has no response."""
    if isinstance(error, PrivateAddressError):
        return NoAnswer("refused-address", f"{error} ({ONLY_NAMED if asking.private else '--deny-private'})")
    if isinstance(error, (TimeoutError, httpcore.TimeoutException)):
        return NoAnswer("timeout", f"{url.host} sent no whole response in {asking.timeout:g} s (--timeout)")
    if is_unknown(error):
        return NoAnswer("unknown-host", f"no host has the name {url.hostname}")
    text = in_short(_reason(error))
    if isinstance(error, httpcore.ProtocolError):
        return NoAnswer("broken-response", f"{url.host} broke off, or sent no response of HTTP: {text}")
    return NoAnswer("unreachable", f"{url.host} cannot be reached: {text}")


def _reason(error: BaseException) -> str:
    """Return the system's text for an error: a package may hide it, for example as "All connection attempts failed"."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and found.errno:
            has_name = found.errno > 0 and not isinstance(found, ssl.SSLError)
            return os.strerror(found.errno).lower() if has_name else str(found)
        several = found.exceptions[0] if isinstance(found, BaseExceptionGroup) else None
        found = several or found.__cause__ or found.__context__
    return str(error) or type(error).__name__


def is_unknown(error: BaseException | None) -> bool:
    """Return whether an error comes from an unknown host name."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None and error.errno in _UNKNOWN


def proxy_at(url: str) -> httpcore.Proxy:
    try:
        parsed = ada_url.URL(url)
    except ValueError as error:
        raise NoAnswer("unreachable", f"the environment names a proxy that is no URL: {in_short(url)}") from error
    return httpcore.Proxy(f"{parsed.protocol}//{parsed.host}", auth=credentials_in(parsed))
