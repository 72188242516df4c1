"""`foliot webhook`: who is told what happens."""

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture
def webhook(foliot: CommandLine, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FOLIOT_WEBHOOK_CLI", "a secret of thirty-two characters")
    command = ("webhook", "create", "https://93.184.216.34/foliot", "--event", "run.failed", "--event", "run.recovered")
    made = foliot.json(*command, "--secret-env", "FOLIOT_WEBHOOK_CLI")
    assert made["events"] == ["run.failed", "run.recovered"]
    return str(made["id"])


def test_a_webhook_is_made_shown_listed_and_deleted(foliot: CommandLine, webhook: str) -> None:
    assert foliot.json("webhook", "show", webhook)["url"] == "https://93.184.216.34/foliot"
    assert webhook in foliot("webhook", "list", "-o", "name")
    assert foliot.json("webhook", "deliveries", webhook) == []
    assert "nobody here to ask" in foliot.refused(2, "webhook", "delete", webhook)
    assert foliot.json("webhook", "delete", webhook, "--yes")["id"] == webhook
    foliot.refused(3, "webhook", "show", webhook)
