"""What a caller is told when it must change something, look again or wait before asking again."""


class Refusal(Exception):
    """A request that was not carried out. The message names the thing, the rule and the remedy."""


class Invalid(Refusal, ValueError):
    """The request is wrong: fix it."""


class Malformed(Invalid):
    """The request lacks a part, or has one that cannot be read."""


class NotFound(Refusal, LookupError):
    """There is no such thing."""


class Conflict(Refusal):
    """Things are no longer, or not yet, as the request assumes: read again."""


class Denied(Refusal, PermissionError):
    """The caller may not do this, or cannot pay for it."""


class Unidentified(Denied):
    """Nobody knows who the caller is."""


class Unpaid(Denied):
    """Nobody could pay for it."""


class Unavailable(Refusal):
    """It could not be done now: try later."""


class DatabaseDown(Unavailable):
    """The database cannot be used now. The words name its place, which is not for everybody."""


class TooMany(Unavailable):
    """The caller asks too often: wait for so many seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
