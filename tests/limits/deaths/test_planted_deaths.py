"""Deaths with a known cause: the answer names it, and is never sure of a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.limits.deaths.planted import PLANTED, Planted
from tests.limits.deaths.scene import Scene, can_limit_memory
from tests.support.kernel_fixtures import starting
from tests.support.kernels import Spares

pytestmark = pytest.mark.kernel

#: Of fifty.
RIGHT = 47 / 50


@pytest.fixture(scope="module")
def scene(spares: Spares, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with starting(spares, tmp_path_factory.mktemp("deaths")) as start:
        scene = Scene(start)
        yield scene
        scene.close()


@pytest.mark.parametrize("planted", [one for one in PLANTED if one.quick], ids=lambda one: one.name)
def test_the_cause_of_a_death_is_told(scene: Scene, planted: Planted) -> None:
    kernel_exit = scene.verdict(planted)
    assert (None if kernel_exit is None else kernel_exit.cause) == planted.cause, kernel_exit


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nearly_all_causes_are_right_and_no_wrong_one_is_sure(scene: Scene) -> None:
    limits_memory = can_limit_memory()
    rows, right, wrong, left_out, sizes = [], 0, [], [], []
    for planted in PLANTED:
        if planted.limit is not None and not limits_memory:
            left_out.append(planted.name)
            continue
        kernel_exit = scene.verdict(planted)
        cause = None if kernel_exit is None else kernel_exit.cause
        confidence = "" if kernel_exit is None else kernel_exit.confidence
        rows.append(
            f"{planted.name:55} {planted.cause!s:17} {cause!s:17} {confidence:7} "
            f"{kernel_exit and kernel_exit.sentence}"
        )
        print(rows[-1])
        right += cause == planted.cause
        said = "" if kernel_exit is None else kernel_exit.sentence.partition(" With ")[2]
        if not f"With {said}".startswith(planted.fitting or "With ") or bool(said) != bool(planted.fitting):
            sizes.append(rows[-1])
        if cause != planted.cause and confidence == "sure":
            wrong.append(rows[-1])
    print(f"{right} of {len(rows)} right; no control group can be made for: {', '.join(left_out) or 'none'}")
    assert len(rows) >= 50
    assert wrong == []
    assert sizes == [], "a size that would have fitted is told where one was planted, and nowhere else"
    assert right / len(rows) >= RIGHT, "\n".join(rows)
