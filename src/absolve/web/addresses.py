"""Connect to public addresses only: the address that is connected to counts, whatever a name resolved to before.

In: a host and a port. Out: a stream of httpcore.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpcore

if TYPE_CHECKING:
    from collections.abc import Iterable

# An IPv4 address is in the last 32 bits (RFC 6052, RFC 4291 2.5.5.1).
_EMBEDDING: Final = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96")


class PrivateAddressError(Exception):
    """A host has no public address."""


def is_public(text: str) -> bool:
    """Return whether an IP address is reachable in the whole Internet (RFC 6890), and so is one that it embeds."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if any(address in one for one in _EMBEDDING):
            embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if not all(is_public(str(one)) for one in embedded if one is not None):
            return False
        if address.ipv4_mapped is not None:
            return True
    return address.is_global and not address.is_multicast


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
