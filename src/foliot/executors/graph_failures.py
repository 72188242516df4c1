"""What it means when a LangGraph graph fails: by the names of errors, for theirs come from any library."""

from collections.abc import Iterator

from foliot.domain.events import ErrorCode, Final
from foliot.execution.executing import failure_of

_BY_NAME = {
    "EmptyInputError": ErrorCode.INVALID_REQUEST,
    "GraphRecursionError": ErrorCode.ABORTED,
    "NodeCancelledError": ErrorCode.ABORTED,
    "NodeTimeoutError": ErrorCode.TIMEOUT,
    "APITimeoutError": ErrorCode.TIMEOUT,
    "RateLimitError": ErrorCode.RATE_LIMIT,
    "ResourceExhausted": ErrorCode.RATE_LIMIT,
    "TooManyRequests": ErrorCode.RATE_LIMIT,
    "ThrottlingException": ErrorCode.RATE_LIMIT,
    "APIConnectionError": ErrorCode.PROVIDER_UNAVAILABLE,
    "InternalServerError": ErrorCode.PROVIDER_UNAVAILABLE,
    "OverloadedError": ErrorCode.PROVIDER_UNAVAILABLE,
    "ServiceUnavailable": ErrorCode.PROVIDER_UNAVAILABLE,
    "ServiceUnavailableError": ErrorCode.PROVIDER_UNAVAILABLE,
}
_BY_HTTP_STATUS = {
    408: ErrorCode.TIMEOUT,
    429: ErrorCode.RATE_LIMIT,
    **dict.fromkeys(range(500, 600), ErrorCode.PROVIDER_UNAVAILABLE),
}
_DEEPEST = 10


def failed(error: BaseException) -> Final:
    """What the graph's code raised, with the code of the first error in the chain of causes that says more."""
    final = failure_of(error)
    if final.error is not ErrorCode.INTERNAL:
        return final
    codes = (_code_of(cause) for cause in _causes(error))
    return final._replace(error=next((code for code in codes if code is not None), ErrorCode.INTERNAL))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_DEEPEST):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def _code_of(error: BaseException) -> ErrorCode | None:
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_NAME:
            return _BY_NAME[kind.__name__]
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return _BY_HTTP_STATUS.get(status) if isinstance(status, int) else None
