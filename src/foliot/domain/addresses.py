"""Addresses: where in the network a call may go that somebody else has named."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from foliot.domain.errors import Invalid

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# As IANA lists them (special-purpose address registries of IPv4 and IPv6). Our own table, because what Python calls
# private or global differs from one of its releases to the next.
_CLOSED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("unspecified", ("0.0.0.0/8", "::/128")),
    ("loopback", ("127.0.0.0/8", "::1/128")),
    ("private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10", "64:ff9b:1::/48")),
    ("shared by a carrier", ("100.64.0.0/10",)),
    # Where most clouds keep the credentials of a machine (169.254.169.254).
    ("link-local", ("169.254.0.0/16", "fe80::/10")),
    # What a cloud's machines ask about themselves at an address that looks public.
    ("metadata of a cloud", ("168.63.129.16/32",)),
    ("multicast", ("224.0.0.0/4", "ff00::/8")),
    ("for documentation", ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")),
    ("reserved", ("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4", "100::/64", "5f00::/16")),
)
_GLOBAL = IPv6Network("2000::/3")
_TEREDO = IPv6Network("2001::/32")
_PROTOCOLS = IPv6Network("2001::/23")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32_BITS = 0xFFFF_FFFF


@lru_cache(maxsize=1)
def _closed() -> tuple[tuple[str, Network], ...]:
    return tuple((kind, ip_network(text)) for kind, texts in _CLOSED for text in texts)


def refusal_of(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """Why a call may not go there, in a word or two; None when it may.

    The open Internet may be reached, and what an allowed network contains. An address that carries another one inside
    it (mapped, 6to4, NAT64, Teredo) may be reached when that one may.
    """
    address = _plain(address)
    if is_named(address, allowed):
        return None
    for kind, network in _closed():
        if address in network:
            return kind
    if isinstance(address, IPv4Address):
        return None
    return _refusal_within(address)


def is_named(address: Address, allowed: Iterable[Network]) -> bool:
    """Whether somebody has allowed that very address, or a network that it is in."""
    return any(_plain(address) in network for network in allowed)


def _plain(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _refusal_within(address: IPv6Address) -> str | None:
    inside = _inside(address)
    for carried in inside:
        kind = refusal_of(carried)
        if kind is not None:
            return f"{kind}, inside {address}"
    return None if inside or (address in _GLOBAL and address not in _PROTOCOLS) else "reserved"


def _inside(address: IPv6Address) -> list[IPv4Address]:
    """The addresses that it stands for on the other side of a translator or a tunnel."""
    number = int(address)
    if address in _NAT64:
        return [IPv4Address(number & _LOW_32_BITS)]
    if address in _SIX_TO_FOUR:
        return [IPv4Address(number >> 80 & _LOW_32_BITS)]
    if address in _TEREDO:
        return [IPv4Address(number >> 64 & _LOW_32_BITS), IPv4Address(~number & _LOW_32_BITS)]
    return []


def read_address(text: str) -> Address:
    """An address as a resolver writes it; Invalid when it is none."""
    try:
        return ip_address(text)
    except ValueError:
        raise Invalid(f"an address is 192.0.2.7 or 2001:db8::7, got {text[:100]!r}") from None


def read_networks(name: str, text: str) -> tuple[Network, ...]:
    """Networks and addresses, separated by commas; Invalid, naming the one that is none."""
    networks: list[Network] = []
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        try:
            networks.append(ip_network(part))
        except ValueError as error:
            raise Invalid(
                f"{name} takes networks and addresses such as '10.1.0.0/16,192.168.7.3', got {part[:100]!r}: {error}"
            ) from None
    return tuple(networks)
