"""How deep JSON is nested: what is read goes in that deep, and whoever reads it can go in only so far."""

import re

_TEXT = re.compile(rb'"(?:[^"\\]+|\\.)*"', re.DOTALL)
_PAIR = re.compile(rb"\[\]|\{\}")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def is_deeper(body: bytes, most: int) -> bool:
    """Whether brackets are nested deeper than that, outside of texts, in JSON that is written as UTF-8.

    Each pass takes away the innermost pairs, at the speed of the machine: nobody can make it slow.
    """
    if body.count(b"[") + body.count(b"{") <= most:
        return False
    rest = _TEXT.sub(b"", body).translate(None, _NO_BRACKETS)
    for depth in range(most + 1):
        if not rest:
            return False
        before, rest = rest, _PAIR.sub(b"", rest)
        if rest == before:
            # It is no JSON: whoever reads it goes in as deep as brackets are opened, at most.
            return depth + rest.count(b"[") + rest.count(b"{") > most
    return True
