"""The engine names what limits planted programs: right, never sure and wrong, seldom without an answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.limits.__main__ import print_score, tell
from tests.limits.judge import score
from tests.limits.program import Program
from tests.limits.programs import PROGRAMS
from tests.limits.runners import ask_all

pytestmark = pytest.mark.kernel


def asked(framework: str, quick: bool | None = None) -> list[Program]:
    """The programs of a framework; those that are asked in every run, or the others, or all."""
    return [one for one in PROGRAMS if one.framework == framework and quick in (None, one.quick)]


def judge(programs: Sequence[Program], folder) -> None:
    """Ask all of these and print what came of it; fails as the issue says."""
    failed: list[str] = []

    def told(program: Program, outcome) -> None:
        tell(program, outcome)
        if isinstance(outcome, str):
            failed.append(f"{program.id} {outcome}")

    total = score(ask_all(programs, folder, told, tries=1))
    print_score(total)
    assert failed == []
    assert total.failures == []


def test_quick_programs_of_python_and_numpy(tmp_path):
    judge(asked("python", quick=True) + asked("numpy", quick=True), tmp_path)


def test_quick_programs_of_tensorflow(tmp_path):
    judge(asked("tensorflow", quick=True), tmp_path)


@pytest.mark.slow
def test_all_other_programs_of_python_and_numpy(tmp_path):
    judge(asked("python", quick=False) + asked("numpy", quick=False), tmp_path)


@pytest.mark.slow
def test_all_other_programs_of_tensorflow(tmp_path):
    judge(asked("tensorflow", quick=False), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "framework", [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("torch", "jax", "mlx")]
)
def test_all_programs_of(framework, tmp_path):
    judge(asked(framework), tmp_path)
