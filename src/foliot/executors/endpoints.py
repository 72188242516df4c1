"""Endpoints: what a program lets its schedules call, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from foliot.domain.durations import Span, positive_span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import switch_of
from foliot.domain.runs import OnUnknown, on_unknown_of
from foliot.domain.schedule import target_of
from foliot.domain.signing import callback_token, secret_of
from foliot.executors.secret_names import secret_named

PROVIDER = "http"
_MOST_RETRIES = 20
_LIKE_A_CREDENTIAL = 16
"""Characters without a space."""
_OURS = ("content-type", "idempotency-key", "traceparent", "user-agent")
_OUR_PREFIX = "foliot-"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A place that runs are sent to. What may be secret of it is not shown."""

    target: str
    host: str
    url: str = field(repr=False)
    secret: str | None = field(repr=False)
    secret_env: str | None
    headers: Mapping[str, str] = field(repr=False)
    timeout: float
    """Seconds that one call may take."""
    retries: int
    """How often a call is repeated within one delivery of a run."""
    callback_within: int | None
    """How long its receiver may take to report when it has answered 202, in microseconds; None: it does not report."""
    on_unknown: OnUnknown

    def secret_now(self) -> str | None:
        """The secret that messages are signed with; from the environment as it is now, where that is said."""
        if self.secret_env is None:
            return self.secret
        return secret_named(self.secret_env, self.target)

    def token_of(self, run_id: str) -> str | None:
        """With which its receiver may report later how that run ended; None: it does not report."""
        secret = self.secret_now()
        return None if self.callback_within is None or secret is None else callback_token(secret, run_id)

    def hidden(self) -> list[str]:
        """What of its headers may be a credential."""
        return [word for value in self.headers.values() for word in value.split() if len(word) >= _LIKE_A_CREDENTIAL]


def endpoint_of(
    name: str,
    url: str,
    *,
    secret: str | None,
    secret_env: str | None,
    headers: Mapping[str, str] | None,
    timeout: Span,
    retries: int,
    callback: bool,
    callback_within: Span,
    on_unknown: str,
) -> Endpoint:
    """An endpoint as people write it; Invalid when it cannot be called."""
    # Here, because only a program that calls something needs the library for it.
    from foliot.executors.outbound import headers_of, url_of  # noqa: PLC0415

    if not isinstance(name, str):
        raise Invalid(f"an endpoint takes a name, as in app.endpoint('billing', 'https://…'), got {name!r}")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= _MOST_RETRIES:
        raise Invalid(f"retries takes a whole number from 0 to {_MOST_RETRIES}, got {retries!r}")
    if secret_env is not None and not (isinstance(secret_env, str) and secret_env and secret_env.isprintable()):
        raise Invalid(f"secret_env takes the name of an environment variable, got {secret_env!r}")
    if secret is not None and secret_env is not None:
        raise Invalid("an endpoint takes secret or secret_env, got both")
    if switch_of("callback", callback) and secret is None and secret_env is None:
        raise Invalid("callback=True takes a secret too: the token of a callback is made from it")
    reports_within = positive_span_of("callback_within", callback_within)
    given = headers_of({} if headers is None else headers)
    for header in given:
        if header.lower() in _OURS or header.lower().startswith(_OUR_PREFIX):
            raise Invalid(f"header {header} is set by Foliot: leave it out")
    return Endpoint(
        target=target_of(f"{PROVIDER}:{name}"),
        host=url_of(url).host,
        url=url,
        secret=None if secret is None else secret_of(secret),
        secret_env=secret_env,
        headers=given,
        timeout=positive_span_of("timeout", timeout) / MICROSECONDS,
        retries=retries,
        callback_within=reports_within if callback else None,
        on_unknown=on_unknown_of(on_unknown),
    )
