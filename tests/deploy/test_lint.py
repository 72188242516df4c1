"""The files that deploy it are written as their readers want it: linters where there are some, their rules here."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_deploy import COMPOSED, DEPLOY, DEPLOYMENTS, MANIFESTS, container, instructions

WRITTEN = sorted(DEPLOY.rglob("*.yaml"))
MOST_EXPOSED = 20
"""Tenths, of systemd's own scale from 0 (nothing) to 100."""
KINDS = {
    "Deployment": "apps/v1",
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "Service": "v1",
    "ServiceAccount": "v1",
}
POD_KEYS = {
    *("automountServiceAccountToken", "containers", "securityContext", "serviceAccountName"),
    *("terminationGracePeriodSeconds", "topologySpreadConstraints", "volumes"),
}
CONTAINER_KEYS = {
    *("args", "env", "image", "livenessProbe", "name", "ports", "readinessProbe", "resources", "securityContext"),
    *("startupProbe", "volumeMounts"),
}
PROBE_KEYS = {"httpGet", "periodSeconds", "timeoutSeconds", "failureThreshold"}
SERVICE_KEYS = {
    *("build", "cap_add", "cap_drop", "command", "depends_on", "deploy", "environment", "healthcheck", "image", "init"),
    *("ports", "read_only", "restart", "secrets", "security_opt", "stop_grace_period", "tmpfs", "user", "volumes"),
}


class Strict(yaml.SafeLoader):
    """Refuses a key that is said twice: else the first would be forgotten in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        own = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        twice = {key for key in own if own.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"said twice: {sorted(twice)}", node.start_mark)
        return super().construct_mapping(node, deep)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_no_key_is_said_twice_and_no_line_ends_in_space(path: Path) -> None:
    text = path.read_text()
    assert list(yaml.load_all(text, Strict))
    assert text.endswith("\n")
    assert not re.search(r"[ \t]+$|\t", text, re.MULTILINE)


def test_a_key_that_is_said_twice_is_found() -> None:
    with pytest.raises(yaml.YAMLError, match="said twice"):
        yaml.load("a: 1\na: 2\n", Strict)


def test_manifests_are_of_kinds_and_versions_that_there_are() -> None:
    assert {(manifest["kind"], manifest["apiVersion"]) for manifest in MANIFESTS} == set(KINDS.items())
    named = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in MANIFESTS if "metadata" in manifest]
    assert len(named) == len(set(named))
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name) for _, name in named)


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["metadata"]["name"])
def test_no_key_of_a_pod_is_misspelt(deployment: Any) -> None:
    pod, only = deployment["spec"]["template"]["spec"], container(deployment)
    assert set(pod) <= POD_KEYS
    assert set(only) <= CONTAINER_KEYS
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert set(only[name]) <= PROBE_KEYS
    names = [entry["name"] for entry in only["env"]]
    assert len(names) == len(set(names))
    accounts = {manifest["metadata"]["name"] for manifest in MANIFESTS if manifest["kind"] == "ServiceAccount"}
    assert pod["serviceAccountName"] in accounts


def test_no_key_of_the_composition_is_misspelt_and_images_have_a_version() -> None:
    assert {key for key in COMPOSED if not key.startswith("x-")} == {"services", "secrets", "volumes"}
    for service in COMPOSED["services"].values():
        assert set(service) <= SERVICE_KEYS
        assert "build" in service or re.fullmatch(r"[a-z]+:\d+", service["image"])
        assert set(service.get("depends_on", {})) <= set(COMPOSED["services"])
    named = {volume.partition(":")[0] for volume in COMPOSED["services"]["database"]["volumes"]}
    assert named == set(COMPOSED["volumes"])


def faults(told: list[tuple[str, str]]) -> Iterator[str]:
    """What a linter of Dockerfiles would say, of those rules that matter here."""
    for name, text in told:
        if name == "FROM" and (":" not in text or ":latest" in text):
            yield f"{text}: an image without a version"
        if name in ("CMD", "ENTRYPOINT") and not isinstance(json.loads(text) if text.startswith("[") else None, list):
            yield f"{name} goes through a shell, which takes the signals"
        if name == "RUN":
            if re.search(r"\b(sudo|curl|wget)\b", text):
                yield f"{text}: what is fetched is not in the lock file"
            if "pip install" in text and ("--no-cache-dir" not in text or "--constraint" not in text):
                yield f"{text}: packages without fixed versions, or with their cache"
            if "apt-get install" in text and "--no-install-recommends" not in text:
                yield f"{text}: more than is needed"
        if name == "WORKDIR" and not text.startswith("/"):
            yield f"{text}: a folder that depends on the one before"
    if [name for name, _ in told].count("HEALTHCHECK") != 1:
        yield "one health check, not several or none"


def test_the_image_is_built_by_the_rules() -> None:
    assert list(faults(instructions())) == []
    assert len(list(faults([("FROM", "python"), ("RUN", "pip install foliot"), ("CMD", "foliot serve")]))) == 4


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_finds_the_unit_little_exposed() -> None:
    threshold = f"--threshold={MOST_EXPOSED}"
    command = ["systemd-analyze", "security", "--offline=true", threshold, str(DEPLOY / "foliot.service")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unrecognized option" in told.stderr:
        pytest.skip("this systemd judges only units that are installed")
    assert told.returncode == 0, told.stdout[-300:] + told.stderr


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not here")
def test_kubectl_puts_the_manifests_together() -> None:
    made = subprocess.check_output(["kubectl", "kustomize", str(DEPLOY / "kubernetes")], text=True, timeout=60)
    documents = list(yaml.load_all(made, Strict))
    assert sorted(document["kind"] for document in documents) == sorted(
        manifest["kind"] for manifest in MANIFESTS if manifest["kind"] != "Kustomization"
    )
    images = {container(document)["image"] for document in documents if document["kind"] == "Deployment"}
    assert all(re.search(r":[\w.-]+$|@sha256:", image) for image in images), images
