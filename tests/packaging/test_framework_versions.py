"""`make test-versions` takes the ends of each range, goes on after a failure, and ends with a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import framework_versions
import pytest
from framework_versions import Row, main, requirements

from tests.packaging.test_make import make


def test_the_oldest_version_is_the_lower_bound_and_the_newest_is_left_to_pip() -> None:
    assert requirements("torch", "newest") == ["torch>=2.8"]
    assert requirements("torch", "oldest") == ["torch==2.8"]
    assert requirements("jax", "oldest") == ["jax[cpu]==0.8"]
    assert all("==" in text and ">=" not in text for text in requirements("mlx", "oldest"))


def test_make_runs_every_framework_or_those_that_are_named() -> None:
    assert (
        "framework_versions.py tensorflow torch jax mlx --pythons 3.11" in make("-n", "test-versions").stdout
    )
    assert "framework_versions.py torch --pythons" in make("-n", "test-versions", "VERSIONS=torch").stdout


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Sequence[str]]]:
    """A machine with two Pythons, on which JAX fails; what was run, by Python."""
    ran: list[tuple[str, Sequence[str]]] = []

    def run_rows(version: str, frameworks: Sequence[str], ends: Sequence[str]) -> Iterator[Row]:
        ran.append((version, ends))
        for framework in frameworks:
            for end in ends:
                failed = int(framework == "jax")
                yield Row(framework, end, version, "1.2.3", 40, failed, is_failure=bool(failed))

    monkeypatch.setattr(framework_versions, "is_at_hand", lambda version: version in ("3.11", "3.13"))
    monkeypatch.setattr(framework_versions, "run_python_version", run_rows)
    return ran


def test_the_oldest_runs_under_the_first_python_and_the_newest_under_each(
    machine: list[tuple[str, Sequence[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["torch", "--pythons", "3.11", "3.13", "3.14t"]) == 0
    assert machine == [("3.11", ("oldest", "newest")), ("3.13", ("newest",))]
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in table[1:4]] == [
        ["torch", "oldest", "1.2.3", "3.11"],
        ["torch", "newest", "1.2.3", "3.11"],
        ["torch", "newest", "1.2.3", "3.13"],
    ]
    assert "Python 3.14t: not run, for none is at hand" in table[-1]


def test_a_failure_of_one_is_told_at_the_end_and_stops_no_other(
    machine: list[tuple[str, Sequence[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jax", "torch", "--pythons", "3.13"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 1 + 4


def test_where_no_python_is_at_hand_nothing_has_passed(
    machine: list[tuple[str, Sequence[str]]],
) -> None:
    assert main(["torch", "--pythons", "3.14"]) == 1
