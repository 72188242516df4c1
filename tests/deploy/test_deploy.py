"""The files that deploy it say what is so: our commands, our settings, our port, our grace; and nothing is root."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from foliot.cli.main import app as commands
from foliot.domain.instants import MICROSECONDS
from foliot.settings.table import PORT, STOP_GRACE, TABLE
from tests.cli.test_wheel import LOCK, locked
from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
MANIFESTS = [
    document
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
DEPLOYMENTS = [manifest for manifest in MANIFESTS if manifest["kind"] == "Deployment"]
COMPOSED: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = [service for name, service in COMPOSED["services"].items() if name != "database"]
ASKED = ("/healthz", "/readyz")
NEEDED = STOP_GRACE.default // MICROSECONDS + 5
"""Seconds from a signal to the end: runs may finish, then the last answers are given."""


class Unit(configparser.RawConfigParser):
    """A systemd unit; of an option that is said twice the last counts here."""

    def __init__(self) -> None:
        super().__init__(strict=False, delimiters=("=",), comment_prefixes=("#",), interpolation=None)

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit() -> configparser.SectionProxy:
    parser = Unit()
    parser.read(DEPLOY / "foliot.service")
    return parser["Service"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's, with what continues on the next line joined, and without comments."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines() if line.strip()]


def test_what_the_image_is_built_from_is_sent_and_nothing_else() -> None:
    copied = [
        name
        for word, said in instructions()
        if word == "COPY" and not said.startswith("--from")
        for name in said.split()[:-1]
    ]
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*", "what is not named stays here"
    assert sorted(line[1:] for line in lines if line.startswith("!")) == sorted(copied)


def last(instruction: str) -> str:
    return [told for name, told in instructions() if name == instruction][-1]


def check_command(arguments: list[str]) -> None:
    """That it is one of ours, with options of ours."""
    group: Any = get_command(commands)
    name, *rest = arguments
    with group.make_context("foliot", [name]) as context:
        command = group.get_command(context, name)
        assert command is not None, name
        command.make_context(name, rest)


def container(deployment: Any) -> Any:
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    return only


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_that_is_named_is_one(path: Path) -> None:
    known = {name for setting in TABLE for name in (setting.variable, f"{setting.variable}_FILE" * setting.may_be_file)}
    assert set(re.findall(r"FOLIOT_[A-Z_]*[A-Z]", path.read_text())) <= known


def test_every_command_is_one_of_ours() -> None:
    program, *arguments = shlex.split(unit()["ExecStart"])
    assert program.endswith("/bin/foliot")
    told = [arguments, json.loads(last("CMD")), *(service["command"] for service in OURS)]
    told += [container(deployment)["args"] for deployment in DEPLOYMENTS]
    assert json.loads(last("ENTRYPOINT")) == ["foliot"]
    for one in told:
        check_command(one)
    with pytest.raises(Exception, match="No such option"):
        check_command(["serve", "--nothing-of-ours"])


def test_everybody_means_the_same_port() -> None:
    port = str(PORT.default)
    assert last("EXPOSE") == port
    assert f"FOLIOT_PORT={port}" in last("ENV")
    assert f"http://127.0.0.1:{port}/healthz" in last("HEALTHCHECK")
    assert OURS[0]["ports"] == [f"127.0.0.1:{port}:{port}"]
    for deployment in DEPLOYMENTS:
        assert container(deployment)["ports"] == [{"name": "http", "containerPort": PORT.default}]


def test_whoever_is_stopped_has_the_time_to_let_runs_finish() -> None:
    assert int(unit()["TimeoutStopSec"]) > NEEDED
    assert unit()["KillSignal"] == last("STOPSIGNAL") == "SIGTERM"
    assert all(int(service["stop_grace_period"].removesuffix("s")) > NEEDED for service in OURS)
    for deployment in DEPLOYMENTS:
        assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > NEEDED


def test_the_unit_gives_up_all_that_it_does_not_need() -> None:
    service = unit()
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictSUIDSGID"):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert f"sqlite:///{service['WorkingDirectory']}/" in (DEPLOY / "foliot.service").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    here = Path(sys.executable).parent / "foliot"
    copy = tmp_path / "foliot.service"
    copy.write_text((DEPLOY / "foliot.service").read_text().replace("/opt/foliot/bin/foliot", str(here)))
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, [line for line in told.stderr.splitlines() if "foliot.service" in line]) == (0, [])


def test_the_image_runs_without_root_and_holds_no_secret() -> None:
    names = [name for name, _ in instructions()]
    assert last("USER") == "10001:10001"
    assert "RUN" not in names[names.index("USER") :]
    assert "ADD" not in names
    assert all(
        re.fullmatch(r"python:\d+\.\d+-slim( AS build)?", told) for name, told in instructions() if name == "FROM"
    )
    secrets = [setting.variable for setting in TABLE if setting.is_secret]
    assert not [secret for secret in secrets if re.search(rf"\b{secret}=", last("ENV"))]
    copied = [
        part for name, told in instructions() if name == "COPY" and "--from" not in told for part in told.split()[:-1]
    ]
    assert all((ROOT / part).exists() for part in copied), copied


def test_the_image_has_the_versions_of_the_lock_file(tmp_path: Path) -> None:
    script = next(told for name, told in instructions() if name == "RUN" and told.startswith("sed"))
    pinned = subprocess.check_output(["sh", "-c", script.partition(">")[0]], cwd=ROOT, text=True)
    assert LOCK.name in script
    assert pinned.splitlines() == locked(tmp_path).read_text().splitlines()
    assert len(pinned.splitlines()) > 50


@pytest.mark.parametrize("name", [name for name in COMPOSED["services"] if name != "database"])
def test_a_composed_service_writes_nothing_and_may_nothing(name: str) -> None:
    service = COMPOSED["services"][name]
    assert service["read_only"] is True
    assert service["user"] == last("USER")
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["depends_on"] == {"database": {"condition": "service_healthy"}}
    files = {value for key, value in service["environment"].items() if key.endswith("_FILE")}
    assert files == {f"/run/secrets/{secret}" for secret in service["secrets"]}
    assert set(service["secrets"]) <= set(COMPOSED["secrets"])
    # What the image says would stand beside the file, which is refused.
    assert service["environment"]["FOLIOT_DATABASE"] == ""


def test_the_database_of_the_composition_is_reached_by_nobody_else() -> None:
    database = COMPOSED["services"]["database"]
    assert "ports" not in database
    assert "healthcheck" in database
    assert database["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/secrets/database_password"


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["metadata"]["name"])
def test_a_pod_is_asked_how_it_is_and_may_nothing(deployment: Any) -> None:
    pod, only = deployment["spec"]["template"]["spec"], container(deployment)
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert only[probe]["httpGet"]["path"] in ASKED
        assert only[probe]["httpGet"]["port"] == "http"
    assert only["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert {"requests", "limits"} <= set(only["resources"])
    mounts = {mount["name"]: mount["mountPath"] for mount in only["volumeMounts"]}
    assert set(mounts) == {volume["name"] for volume in pod["volumes"]}
    assert {"/tmp", "/data"} <= set(mounts.values())
    environment = {entry["name"]: entry["value"] for entry in only["env"]}
    assert environment["FOLIOT_DATABASE"] == ""
    assert all(value.startswith(f"{mounts['secrets']}/") for key, value in environment.items() if key.endswith("_FILE"))


def test_whatever_selects_pods_finds_them_and_some_stay_when_nodes_are_drained() -> None:
    labels = {}
    for deployment in DEPLOYMENTS:
        labels[deployment["metadata"]["name"]] = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels[deployment["metadata"]["name"]].items()
        assert deployment["spec"]["replicas"] > 1
    budgets = [manifest for manifest in MANIFESTS if manifest["kind"] == "PodDisruptionBudget"]
    assert [budget["metadata"]["name"] for budget in budgets] == list(labels)
    for budget in budgets:
        assert budget["spec"]["selector"]["matchLabels"] == labels[budget["metadata"]["name"]]
        assert budget["spec"]["minAvailable"] >= 1
    (service,) = (manifest for manifest in MANIFESTS if manifest["kind"] == "Service")
    assert service["spec"]["selector"] == labels["foliot"]
    assert service["spec"]["ports"][0]["targetPort"] == "http"
    for policy in (manifest for manifest in MANIFESTS if manifest["kind"] == "NetworkPolicy"):
        assert any(policy["spec"]["podSelector"]["matchLabels"].items() <= these.items() for these in labels.values())


def test_all_manifests_are_applied() -> None:
    (kustomization,) = (manifest for manifest in MANIFESTS if manifest["kind"] == "Kustomization")
    there = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == there
    assert [image["name"] for image in kustomization["images"]] == ["foliot"]
    assert {container(deployment)["image"] for deployment in DEPLOYMENTS} == {"foliot"}
