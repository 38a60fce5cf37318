"""Plans of twelve models, made where there is no GPU, against what TensorFlow does on the emulated device."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.metal_emulator import placement
from tests.metal_emulator.comparing import Verdict, compared
from tests.metal_emulator.placement import Placed

ROOT = Path(__file__).parents[2]

#: Two processes each; by how much work they are, so that both end at about the same time.
QUICK = (("mlp", "cnn"), ("lstm", "control_flow"))
SLOW = (("bert", "unet", "gru_attention"), ("decoder", "attention", "cnn_float16", "resnet_float16", "vae"))
#: `make test` takes a plain model, one with a large batch, a recurrent one and one with a loop.
NAMES = [
    *(pytest.param(name) for names in QUICK for name in names),
    *(pytest.param(name, marks=pytest.mark.slow) for names in SLOW for name in names),
]
#: A branch is run one way, and a loop as often as it goes: all of their bytes are forecast, not how often.
BRANCHED = {"gru_attention", "control_flow", "cnn_float16", "resnet_float16", "decoder"}
LOOPED = {"control_flow"}

# docs/measurements/plan.md names each of these, with its reason.
INNER = "StatefulPartitionedCall/rm_sprop/cond/then/rm_sprop/cond"
DIFFER = {"gru_attention": [f"{INNER}/cond/else/rm_sprop/cond/cond/ScatterNd"]}
NOT_COPIED = {"gru_attention": [f"{INNER}/Equal:0 to the device (Equal)"]}


def start(module: str, *words: str, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if name != placement.PLUG_IN}
    command = [sys.executable, "-m", f"tests.metal_emulator.{module}", *words]
    done = subprocess.run(
        command, cwd=ROOT, env={**known, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


class Judge:
    """Gives each model's verdict; the first time that one is asked for, all that are as quick are made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._verdicts: dict[str, Verdict] = {}

    def __getitem__(self, model: str) -> Verdict:
        if model not in self._verdicts:
            self._verdicts |= self._made(QUICK if any(model in names for names in QUICK) else SLOW)
        return self._verdicts[model]

    def _made(self, models: tuple[tuple[str, ...], ...]) -> dict[str, Verdict]:
        """Plans in one process, what TensorFlow does with them in two, two at a time."""
        with ThreadPoolExecutor(2) as workers:
            ran = [workers.submit(start, "placement", *names) for names in models]
            all_names = [name for names in models for name in names]
            planned = workers.submit(start, "forecasts", str(self._folder), *all_names)
            lines = [line for one in ran for line in one.result().splitlines()]
            planned.result()
        placed = [Placed.from_json(line) for line in lines]
        return {
            one.model: compared(pickle.loads((self._folder / one.model).read_bytes()), one) for one in placed
        }


@pytest.fixture(scope="module")
def judged(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(tmp_path_factory.mktemp("plans"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("model", NAMES)
def test_each_operation_is_forecast_where_tensorflow_puts_it(judged, model):
    verdict = judged[model]
    assert verdict.missing == ()  # it is a plan of the graph that runs
    assert [one.split(" (")[0] for one in verdict.differ] == DIFFER.get(model, [])
    assert verdict.agree > 250


@pytest.mark.parametrize("model", NAMES)
def test_each_copy_is_forecast_and_no_other(judged, model):
    verdict = judged[model]
    assert verdict.not_forecast == ()
    assert list(verdict.not_copied) == NOT_COPIED.get(model, [])
    assert verdict.copies > 25


@pytest.mark.parametrize("model", NAMES)
def test_the_bytes_that_the_device_was_asked_to_copy_are_those_of_the_plan(judged, model):
    verdict = judged[model]
    for to, copied in verdict.bytes_copied.items():
        forecast = verdict.bytes_forecast[to]
        assert copied.total() >= 5
        if model in LOOPED:
            assert set(copied) <= set(forecast), to
        elif model in BRANCHED:
            assert copied <= forecast, to
        else:
            assert copied == forecast, to


def test_the_batch_itself_is_copied_in_each_step(judged):
    # 32 images of 16 x 16 x 3 in float32, and their 32 labels in int64.
    assert {98_304, 256} <= set(judged["cnn"].bytes_forecast["device"])
