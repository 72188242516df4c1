"""What a caller is told when it must change something, look again or wait before asking again."""


class Refusal(Exception):
    """A request that was not carried out. The message names the thing, the rule and the remedy."""


class Invalid(Refusal, ValueError):
    """The request is wrong: fix it."""


class NotFound(Refusal, LookupError):
    """There is no such thing."""


class Conflict(Refusal):
    """Things are no longer, or not yet, as the request assumes: read again."""


class Denied(Refusal, PermissionError):
    """The caller may not do this, or cannot pay for it."""


class Unavailable(Refusal):
    """It could not be done now: try later."""
