"""Choose the virtual host that answers a request, and apply its rules.

In: hosts with their names and ports, each with a `Mover`. Out: a `Mover`. Apache and nginx choose in the same way: by
port, then by name, else the first of the port (httpd.apache.org/docs/2.4/vhosts/details.html,
nginx.org/en/docs/http/request_processing.html).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.audit.maps.model import Found, Mover
    from absolve.audit.maps.request import Request

_PORTS: Final = {"http": "80", "https": "443"}


class Server(NamedTuple):
    """A virtual host: names in lower case, perhaps with `*`; ports, none for any; its rules."""

    names: tuple[str, ...]
    ports: tuple[str, ...]
    move: Mover


def by_host(servers: Sequence[Server]) -> Mover:
    """Return a mover that applies the rules of the server that answers a request."""

    def move(request: Request, exists: Callable[[str], bool]) -> Found | None:
        server = _chosen(servers, request)
        if server is None or (not request.is_home and not _named(server, request)):
            return None
        return server.move(request._replace(is_home=True), exists)

    return move


def _chosen(servers: Sequence[Server], request: Request) -> Server | None:
    port = request.host.rpartition(":")[2] if ":" in request.host else _PORTS[request.scheme]
    listening = [server for server in servers if not server.ports or port in server.ports]
    if not listening and port in _PORTS.values():
        listening = list(servers)
    for server in listening:
        if _named(server, request):
            return server
    return listening[0] if listening else None


def _named(server: Server, request: Request) -> bool:
    host = request.host.partition(":")[0]
    return any(host == name or ("*" in name and fnmatchcase(host, name)) for name in server.names)
