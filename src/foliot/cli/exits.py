"""Exit codes: what a script learns without reading."""

from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Refusal, Unavailable

FAILED = 1
"""What was waited for failed or was cancelled, or a violation was found."""
TIMED_OUT = 7
"""What was waited for had not come when the time was up."""
INTERRUPTED = 130

EXIT_CODES: dict[type[Refusal], int] = {Invalid: 2, NotFound: 3, Conflict: 4, Unavailable: 5, Denied: 6}


def exit_code(refusal: Refusal) -> int:
    """By the kind of the refusal: what the caller must do."""
    return next(code for kind, code in EXIT_CODES.items() if isinstance(refusal, kind))
