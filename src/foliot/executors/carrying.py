"""Carrying: letters to webhooks, signed, over TLS, and only to where they may go."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from foliot.domain.addresses import Network
from foliot.domain.errors import Invalid, Refusal, Unavailable
from foliot.domain.notices import Carried, Letter, has_arrived
from foliot.executors.answers import quote, wait_asked_for
from foliot.executors.messages import agent, signed
from foliot.executors.secret_names import secret_named

if TYPE_CHECKING:
    from foliot.executors.outbound import GuardedCaller

WITHIN = 10.0
"""Seconds for a letter, and for finding out where it would go."""
LONGEST_ANSWER = 64 * 1024
DELIVERY_HEADER = "Foliot-Delivery"
EVENT_HEADER = "Foliot-Event"
_LONGEST_QUOTE = 200


def guarded_caller(allowed: Iterable[Network]) -> "GuardedCaller":
    """Who calls for letters: over TLS, but where a network is named that may be called without."""
    # Here, because only a program that calls something needs the library for it.
    from foliot.executors.outbound import GuardedCaller  # noqa: PLC0415

    return GuardedCaller(allowed, is_strict=True, longest_body=LONGEST_ANSWER)


class LetterCarrier:
    """Takes letters to webhooks."""

    def __init__(self, make_caller: Callable[[], "GuardedCaller"]) -> None:
        self._make_caller = make_caller
        self._made: GuardedCaller | None = None

    @property
    def _caller(self) -> "GuardedCaller":
        if self._made is None:
            self._made = self._make_caller()
        return self._made

    async def check(self, url: str) -> str:
        try:
            return await self._caller.check(url, WITHIN)
        except (Unavailable, TimeoutError) as error:
            raise Invalid(f"a webhook takes a URL that can be called: {error}") from error

    async def carry(self, letter: Letter) -> Carried:
        try:
            secret = secret_named(letter.secret_env, "the webhook")
            headers = {
                "Content-Type": "application/json",
                "User-Agent": agent(),
                DELIVERY_HEADER: letter.delivery,
                EVENT_HEADER: letter.event,
            }
            sent = signed(headers, letter.body, secret, letter.at)
            answer = await self._caller.call("POST", letter.url, sent, letter.body, WITHIN)
        except (Refusal, TimeoutError) as error:
            return Carried(None, str(error))
        if has_arrived(answer.status):
            return Carried(answer.status, None)
        answer = answer._replace(body=answer.body.replace(secret.encode(), b"***"))
        said = f"it answered {answer.status}: {quote(answer)[:_LONGEST_QUOTE]}".rstrip(": ")
        if 300 <= answer.status < 400:
            said = f"it answered {answer.status}, and redirects are not followed: register the address it leads to"
        return Carried(answer.status, said, wait_asked_for(answer.headers, letter.at))
