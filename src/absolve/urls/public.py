"""Which hosts the whole Internet can reach: by their address, whatever it embeds, or by a name that public DNS answers.

In: an IP address or the host of a URL, as the URL Standard writes it. Out: whether it is public.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

# Names that no public DNS answers: RFC 6761 6.2 to 6.4, RFC 6762 3 and G, RFC 8375, `internal` (ICANN, 2024-07-29), and
# names of services in Kubernetes.
_PRIVATE_NAME: Final = re.compile(
    r"(?:.*\.)?(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|invalid|test|svc)\.?"
)
# An IPv4 address is in the last 32 bits (RFC 6052).
_EMBEDDING: Final = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")  # all that is allocated of the Internet (RFC 4291 2.4)
_NOT_PUBLIC: Final = (  # what older tables of Python do not have: RFC 9637, RFC 7526
    ipaddress.IPv6Network("3fff::/20"), ipaddress.IPv4Network("192.88.99.0/24")
)  # fmt: skip


def is_public_host(host: str) -> bool:
    """Return whether a host may be public: a name is, unless it has no dot, or is one of local networks."""
    try:
        return is_public(host.strip("[]"))
    except ValueError:
        return "." in host.rstrip(".") and _PRIVATE_NAME.fullmatch(host) is None


def is_public(text: str) -> bool:
    """Return whether an IP address is reachable in the whole Internet (RFC 6890), and so is one that it embeds.

    Raise ValueError for a text that is no address.
    """
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
