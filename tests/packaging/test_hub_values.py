"""binder/hub: what configures a class's hub is of the right form, and its parts agree with each other."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from traitlets.config.loader import PyFileConfigLoader

import jupyter_mlgpu
from constraints import FILES, ROOT
from jupyter_mlgpu.teach.sharing import address

HUB = ROOT / "binder" / "hub"
MEASURED = ROOT / "docs" / "measurements" / "2026-11-22-hub-memory" / "memory.json"
MIB, GIB = 2**20, 2**30

VALUES: dict[str, Any] = yaml.safe_load((HUB / "values.yaml").read_text(encoding="utf-8"))
SCHEMA: dict[str, Any] = json.loads((HUB / "values.schema.json").read_text(encoding="utf-8"))
POD, SERVICE = yaml.safe_load_all((HUB / "teacher.yaml").read_text(encoding="utf-8"))
VOLUMES = list(yaml.safe_load_all((HUB / "volumes.yaml").read_text(encoding="utf-8")))
(CONTAINER,) = POD["spec"]["template"]["spec"]["containers"]
README = (HUB / "README.md").read_text(encoding="utf-8")
STUDENT = VALUES["singleuser"]
LITTLE = PyFileConfigLoader("tljh_class.py", path=str(HUB)).load_config()
(LITTLE_SERVICE,) = LITTLE.JupyterHub.services.get_value([])


def test_the_values_are_of_the_schema_s_form() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)
    wrong = copy.deepcopy(VALUES)
    wrong["singleuser"]["memmory"] = wrong["singleuser"].pop("memory")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


def size(text: str) -> int:
    """Bytes of a size as KubeSpawner reads it."""
    assert text.endswith("G")
    return int(text.removesuffix("G")) * GIB


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("guarantee", ("server", "kernel_with_tensorflow")),
        ("limit", ("server", "kernel_that_trains_bert", "kernel_with_tensorflow")),
    ],
)
def test_memory_is_the_sum_of_what_was_measured_rounded_up_to_whole_gibibytes(
    setting: str, parts: tuple[str, ...]
) -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured["unit"] == "MiB"
    needed = MIB * sum(measured["resident_memory"][part] for part in parts)
    assert size(STUDENT["memory"][setting]) == math.ceil(needed / GIB) * GIB


def test_the_image_is_the_one_that_repo2docker_makes_of_this_repository_at_this_version() -> None:
    image = "{name}:{tag}".format(**STUDENT["image"])
    assert STUDENT["image"]["tag"] == jupyter_mlgpu.__version__
    (command,) = re.findall(r"^ +(jupyter-repo2docker .*)$", README, re.MULTILINE)
    words = shlex.split(command)
    assert words[words.index("--image-name") + 1] == image
    # The repository's top, where repo2docker finds the folder binder/.
    assert words[-1] == "."
    assert CONTAINER["image"] == image


def test_the_image_with_a_gpu_is_that_image_with_the_pinned_tensorflow_s_libraries() -> None:
    lines = (HUB / "gpu.Dockerfile").read_text(encoding="utf-8").splitlines()
    assert "FROM {name}:{tag}".format(**STUDENT["image"]) in lines
    (pins,) = [file.path for file in FILES if file.name == "make.txt"]
    (version,) = re.findall(r"^tensorflow==(\S+)", pins.read_text(encoding="utf-8"), re.MULTILINE)
    (gpu_list,) = [file.path for file in FILES if file.name == "gpu.txt"]
    listed = gpu_list.read_text(encoding="utf-8")
    assert f"tensorflow=={version} " in listed
    assert re.search(r"^nvidia-cudnn-cu12==", listed, re.MULTILINE)
    (gpu,) = [one for one in STUDENT["profileList"] if "nvidia.com/gpu" in str(one)]
    assert f"--tag {gpu['kubespawner_override']['image']} ." in "\n".join(lines)


def test_what_the_image_with_a_gpu_installs_is_named_by_hashes_alone() -> None:
    lines = (HUB / "gpu.Dockerfile").read_text(encoding="utf-8").splitlines()
    installs = [line for line in lines if "pip install" in line]
    assert installs
    for line in installs:
        words = shlex.split(line)
        assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(words)
        place = words[words.index("--requirement") + 1]
        # Nothing else is named: what follows an option's name belongs to it.
        rest = words[words.index("install") + 1 :]
        assert [one for one in rest if not one.startswith("-")] == [":all:", place]
        (copied,) = [
            line.split()[1] for line in lines if line.startswith("COPY") and line.split()[2] == place
        ]
        pins = re.findall(
            r"^[a-z0-9][^\n]*(?:\n    [^\n]*)*", (ROOT / copied).read_text(encoding="utf-8"), re.M
        )
        assert len(pins) > 50
        assert [one for one in pins if "--hash=sha256:" not in one] == []


def test_one_profile_is_chosen_unless_another_is_wanted() -> None:
    slugs = [one["slug"] for one in STUDENT["profileList"]]
    assert slugs == ["cpu", "gpu"]
    assert [one["slug"] for one in STUDENT["profileList"] if one.get("default")] == ["cpu"]


def test_every_volume_that_is_mounted_is_there() -> None:
    storage = STUDENT["storage"]
    names = {one["name"] for one in storage["extraVolumes"]}
    assert {one["name"] for one in storage["extraVolumeMounts"]} == names
    pod = POD["spec"]["template"]["spec"]
    volumes = [*storage["extraVolumes"], *pod["volumes"]]
    claimed = {one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one}
    assert claimed == {one["metadata"]["name"] for one in VOLUMES}


def test_the_hub_the_students_and_the_service_mean_the_same_teacher_s_view() -> None:
    environment = {one["name"]: one.get("value", one.get("valueFrom")) for one in CONTAINER["env"]}
    (name,) = VALUES["hub"]["services"]
    assert environment["JUPYTERHUB_SERVICE_NAME"] == name
    assert environment["JUPYTERHUB_SERVICE_PREFIX"] == f"/services/{name}/"
    assert environment["JUPYTERHUB_API_TOKEN"] == {
        "secretKeyRef": {"name": "hub", "key": f"hub.services.{name}.apiToken"}
    }
    (port,) = [one["port"] for one in SERVICE["spec"]["ports"]]
    assert VALUES["hub"]["services"][name]["url"] == f"http://{SERVICE['metadata']['name']}:{port}"
    assert environment["JUPYTERHUB_SERVICE_URL"].endswith(f":{port}")
    assert POD["spec"]["template"]["metadata"]["labels"].items() >= SERVICE["spec"]["selector"].items()
    assert STUDENT["extraEnv"]["JUPYTER_MLGPU_TEACHER_URL"].endswith(f"/services/{name}")
    for role in ("user", "server"):
        assert f"access:services!service={name}" in VALUES["hub"]["loadRoles"][role]["scopes"]


def test_both_kinds_of_hub_give_the_same_roles_and_start_the_same_service() -> None:
    roles = {one["name"]: one["scopes"] for one in LITTLE.JupyterHub.load_roles.get_value([])}
    assert roles == {name: one["scopes"] for name, one in VALUES["hub"]["loadRoles"].items()}
    service = LITTLE_SERVICE
    assert [service["name"]] == list(VALUES["hub"]["services"])
    begin = service["command"].index("-m")
    assert service["command"][begin : begin + 3] == CONTAINER["args"][1:4]
    environment = LITTLE.Spawner.environment.get_value({})
    assert environment["JUPYTER_MLGPU_TEACHER_URL"] == f"{service['url']}/services/{service['name']}"


def test_on_the_littlest_jupyterhub_a_server_s_token_goes_where_no_student_can_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "start").write_text("1024\n")  # as Linux has it
    monkeypatch.setattr(address, "_FIRST_OPEN_PORT", tmp_path / "start")
    told = {**LITTLE.Spawner.environment.get_value({}), "JUPYTERHUB_API_TOKEN": "a-token"}
    assert address.address_of(told).url == f"{LITTLE_SERVICE['url']}/services/teacher"


def test_on_the_littlest_jupyterhub_the_service_is_not_root() -> None:
    words = LITTLE_SERVICE["command"]
    assert words[0] == "/usr/bin/setpriv"
    assert "--reuid=jupyter-mlgpu-teacher" in words
    assert "--regid=jupyter-mlgpu-teacher" in words
    assert (
        "sudo adduser --system --group --home /var/lib/jupyter-mlgpu-teacher jupyter-mlgpu-teacher" in README
    )


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/setpriv").exists() or not Path("/usr/bin/python3").exists(),
    reason="only root can drop what it may, with util-linux's setpriv",
)
def test_the_service_keeps_nothing_of_root_but_the_right_to_open_that_port() -> None:
    service = LITTLE_SERVICE
    words = service["command"][: service["command"].index("-m") - 1]
    mine = [one.replace("jupyter-mlgpu-teacher", "65534") for one in words]
    code = (
        "import os, socket, sys; one = socket.socket(); one.bind(('127.0.0.1', int(sys.argv[1])));"
        "print(os.getuid(), os.getgid(), os.getgroups());"
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')))"
    )
    port = service["url"].rpartition(":")[2]
    done = subprocess.run(
        [*mine, "/usr/bin/python3", "-c", code, port], capture_output=True, text=True, cwd="/"
    )
    assert done.stdout.splitlines() == ["65534 65534 []", f"{1 << 10:016x}"], done.stderr


def test_the_littlest_jupyterhub_gets_a_jupyterhub_older_than_6_and_what_brings_the_lessons() -> None:
    (pins,) = [file.path for file in FILES if file.name == "tljh.txt"]
    text = pins.read_text(encoding="utf-8")
    assert re.search(r"^jupyterhub==5\.", text, re.MULTILINE)
    assert re.search(r"^nbgitpuller==", text, re.MULTILINE)
    assert re.search(r"^nbgrader==", text, re.MULTILINE)
