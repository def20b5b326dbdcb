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

# An IPv4 address is in the last 32 bits (RFC 6052).
_EMBEDDING: Final = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")  # all that is allocated of the Internet (RFC 4291 2.4)
_NOT_PUBLIC: Final = (  # what older tables of Python do not have: RFC 9637, RFC 7526
    ipaddress.IPv6Network("3fff::/20"), ipaddress.IPv4Network("192.88.99.0/24")
)  # fmt: skip


class PrivateAddressError(Exception):
    """A host has no public address."""


def is_public(text: str) -> bool:
    """Return whether an IP address is reachable in the whole Internet (RFC 6890), and so is one that it embeds."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped
        if address in _EMBEDDING:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if address not in _UNICAST or not all(map(is_public, map(str, _tunnelled(address)))):
            return False
    return address.is_global and not (address.is_multicast or any(address in one for one in _NOT_PUBLIC))


def _tunnelled(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses in an address of 6to4 or Teredo."""
    return [*filter(None, [address.sixtofour]), *(address.teredo or ())]


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
