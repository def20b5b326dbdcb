"""Connect to public addresses only: the address that is connected to counts, whatever a name resolved to before.

In: a host and a port. Out: a stream of httpcore.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import anyio
import httpcore

from absolve.urls.access import is_public

if TYPE_CHECKING:
    from collections.abc import Iterable

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
