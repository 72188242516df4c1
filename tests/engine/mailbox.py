"""A carrier for worlds in virtual time: it keeps what it was given, and says what a test tells it to."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from foliot.domain.notices import Carried, Letter

ARRIVED = Carried(200, None)
REFUSED = Carried(500, "it answered 500")
HOOK = "https://hook.test/in"
SECRET = "FOLIOT_WEBHOOK_TEST"


class Mailbox:
    """Answers with one result after another, the last one again and again; `takes` are the seconds of each."""

    def __init__(self, *answers: Carried, takes: float = 0.0) -> None:
        self.answers = list(answers) or [ARRIVED]
        self.takes = takes
        self.letters: list[Letter] = []
        self.under_way = 0
        self.most_at_once = 0

    async def check(self, url: str) -> str:
        return url.split("/")[2]

    async def carry(self, letter: Letter) -> Carried:
        self.letters.append(letter)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            if self.takes:
                await asyncio.sleep(self.takes)
        finally:
            self.under_way -= 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def told(self) -> list[dict[str, Any]]:
        """What was said, in the order in which it came."""
        return [json.loads(letter.body) for letter in self.letters]

    @property
    def events(self) -> list[str]:
        return [letter.event for letter in self.letters]

    @property
    def times(self) -> list[datetime]:
        """When each letter was signed."""
        return [datetime.fromtimestamp(letter.at, UTC) for letter in self.letters]
