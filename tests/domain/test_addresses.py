"""Addresses: the open Internet may be reached; what lies inside a network only when that is said."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.addresses import read_address, read_networks, refusal_of

CLOSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "100.64.0.1": "shared by a carrier",
    "100.100.100.200": "shared by a carrier",
    "127.0.0.1": "loopback",
    "127.255.255.255": "loopback",
    "169.254.169.254": "link-local",
    "168.63.129.16": "metadata of a cloud",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.192": "reserved",
    "192.0.2.7": "for documentation",
    "192.168.1.1": "private",
    "198.18.0.1": "reserved",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::127.0.0.1": "reserved",
    "::ffff:0:127.0.0.1": "reserved",
    "64:ff9b:1::1": "private",
    "100::1": "reserved",
    "2001:2::1": "reserved",
    "2001:db8::1": "for documentation",
    "3fff::1": "for documentation",
    "4000::1": "reserved",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "fd20:ce::254": "private",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fec0::1": "private",
    "ff02::1": "multicast",
}
OPEN = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.255", "2606:4700::1111"]
IPV4 = st.ip_addresses(v=4).map(lambda address: IPv4Address(int(address)))
CLOSED_IPV4 = st.one_of(
    *[
        st.ip_addresses(v=4, network=network).map(lambda address: IPv4Address(int(address)))
        for network in ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16", "100.64.0.0/10", "224.0.0.0/4")
    ]
)


def forms(address: IPv4Address) -> list[IPv6Address]:
    """What leads to that address by way of IPv6: mapped, 6to4, NAT64, Teredo as client and as server."""
    number = int(address)
    public = int(IPv4Address("8.8.8.8"))
    return [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
        IPv6Address(0x64_FF9B << 96 | number),
        IPv6Address(0x2001_0000 << 96 | public << 64 | number ^ 0xFFFF_FFFF),
        IPv6Address(0x2001_0000 << 96 | number << 64 | public ^ 0xFFFF_FFFF),
    ]


@pytest.mark.parametrize(("text", "kind"), CLOSED.items())
def test_what_is_not_the_open_internet_is_refused_by_its_kind(text: str, kind: str) -> None:
    assert refusal_of(ip_address(text)) == kind


@pytest.mark.parametrize("text", OPEN)
def test_the_open_internet_may_be_reached(text: str) -> None:
    assert refusal_of(ip_address(text)) is None


@given(IPV4)
def test_an_address_inside_another_is_judged_by_itself(address: IPv4Address) -> None:
    for form in forms(address):
        assert (refusal_of(form) is None) == (refusal_of(address) is None), form


@given(CLOSED_IPV4)
def test_no_form_of_a_closed_address_is_open(address: IPv4Address) -> None:
    assert refusal_of(address) is not None
    assert None not in [refusal_of(form) for form in forms(address)]


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_open(address: IPv4Address | IPv6Address) -> None:
    closed = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    # Some releases of Python call all of 6to4 private; here it is judged by the address inside it.
    is_6to4 = isinstance(address, IPv6Address) and address.sixtofour is not None
    if closed or (address.is_private and not is_6to4):
        assert refusal_of(address) is not None


@given(st.ip_addresses())
def test_an_allowed_network_opens_what_it_contains_and_nothing_else(address: IPv4Address | IPv6Address) -> None:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    plain = mapped or address
    assert refusal_of(address, [ip_network(plain)]) is None
    other = IPv4Network("192.0.2.0/32")
    assert (refusal_of(address, [other]) == refusal_of(address)) or plain in other


def test_a_mapped_address_is_the_address_itself() -> None:
    assert refusal_of(ip_address("::ffff:127.0.0.1"), [ip_network("127.0.0.0/8")]) is None
    assert refusal_of(ip_address("::ffff:10.0.0.1"), [ip_network("127.0.0.0/8")]) == "private"


def test_a_detour_to_an_allowed_network_is_not_allowed_with_it() -> None:
    assert refusal_of(ip_address("64:ff9b::7f00:1"), [ip_network("127.0.0.0/8")]) == "loopback, inside 64:ff9b::7f00:1"


def test_networks_are_written_with_commas() -> None:
    read = read_networks("ALLOW", " 127.0.0.0/8, 10.1.2.3 ,, fd00::/8,")
    assert [str(network) for network in read] == ["127.0.0.0/8", "10.1.2.3/32", "fd00::/8"]
    assert read_networks("ALLOW", "") == ()


@pytest.mark.parametrize("text", ["localhost", "10.0.0.0/33", "10.0.0.1/8", "*", "10.0.0.0-10.0.0.9"])
def test_what_is_no_network_is_refused_by_name(text: str) -> None:
    with pytest.raises(Invalid, match="ALLOW takes networks and addresses such as") as refusal:
        read_networks("ALLOW", f"127.0.0.1,{text}")
    assert repr(text) in str(refusal.value)


def test_what_is_no_address_is_refused() -> None:
    assert read_address("fe80::1%2") == IPv6Address("fe80::1%2")
    with pytest.raises(Invalid, match=r"an address is 192\.0\.2\.7"):
        read_address("example.com")
