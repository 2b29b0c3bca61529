"""Decide which requests are answered, by their headers Host and Origin and by a token. Also the headers of answers."""

from __future__ import annotations

import hmac
import re
import socket
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sublex.service.problems import Refused

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
# The headers of all answers. No answer is code for another origin, shown in a frame, sniffed for another type or told to others.
SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Further headers of the page.
OF_PAGE = ((b"cross-origin-opener-policy", b"same-origin"), (b"x-frame-options", b"DENY"))


def is_loopback(host: str) -> bool:
    """Return whether a server on this address can be reached from this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


def own_names(host: str, more: Iterable[str] = ()) -> list[str]:
    """Return the names by which requests may call a server that listens on `host`; `more` are names from the user."""
    if is_loopback(host):
        return [*LOOPBACK, *more]
    names = [host] if host not in ("0.0.0.0", "::") else [socket.gethostname(), *LOOPBACK]
    return [*names, *more]


def addressed(name: str, port: int) -> str:
    """Return a name with its port, as it stands in the header Host. A name may have a port of its own, as behind a proxy."""
    if name.count(":") > 1 and not name.startswith("["):
        return f"[{name}]:{port}"
    return name if re.search(r":[0-9]+\Z", name) and not name.endswith("]") else f"{name}:{port}"


class Guard(NamedTuple):
    """The Host headers that name the server, the origins of its page, and the token, "" for none."""

    hosts: frozenset[bytes]
    origins: frozenset[bytes]
    token: bytes = b""

    @classmethod
    def of(cls, names: Iterable[str], port: int, token: str = "") -> Guard:
        """Return the guard of a server with these names on a port."""
        hosts = {addressed(name.lower(), port) for name in names}
        if port == 80:
            hosts |= {host.removesuffix(":80") for host in hosts}
        origins = {f"http://{host}" for host in hosts} | {f"https://{host}" for host in hosts}
        return cls(
            frozenset(host.encode("latin-1", "replace") for host in hosts),
            frozenset(origin.encode("latin-1", "replace") for origin in origins),
            token.encode(),
        )

    def check(self, headers: Mapping[bytes, bytes], *, strict: bool, is_page: bool) -> None:
        """Raise Refused unless a request may be answered. A strict request, such as a change, needs an Origin."""
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        if host.lower() not in self.hosts:
            raise Refused(403, f"The Host {_shown(host)} is no name of this server; open the address that it printed.")
        if origin is not None and origin not in self.origins:
            raise Refused(403, f"The Origin {_shown(origin)} is not the page of this server.")
        if strict and origin is None:
            raise Refused(403, "This request needs the header Origin with the address of this server.")
        if is_page:
            return
        site = headers.get(b"sec-fetch-site", b"none")
        if site not in (b"none", b"same-origin"):
            raise Refused(403, "Another site asked for this; open the page of this server.")
        if self.token and not hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + self.token):
            challenge = ((b"www-authenticate", b"Bearer"),)
            raise Refused(401, "This server needs its token, in the header Authorization: Bearer TOKEN.", challenge)


def _shown(value: bytes) -> str:
    return repr(value[:100].decode("latin-1")) if value else "that is missing"
