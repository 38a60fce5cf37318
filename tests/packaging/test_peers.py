"""`make test-peers` compares two runs of a suite, which it takes from a source distribution."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.test_constraints import pins_of
from tests.peers import peers


def alone(*passing: tuple[str, bool]) -> Callable[[str, bool], str]:
    """Runs of one test by itself, of which these pass: the test's name, and whether we are loaded."""
    return lambda name, with_us: "passed" if (name, with_us) in passing else "failed"


def test_a_test_that_fails_with_us_is_run_again_alone_and_counts_where_it_does_so_again() -> None:
    plain = {"a": "passed", "b": "passed"}
    ours = {"a": "failed", "b": "failed"}
    found = peers.compare(plain, ours, alone(("a", False), ("b", True)))
    assert (found.only_with_us, found.flaky, found.plainly_too) == (["a"], ["b"], [])


def test_a_test_that_fails_plainly_is_named_and_does_not_count() -> None:
    plain = {"a": "failed", "b": "passed"}
    found = peers.compare(plain, {"a": "failed", "b": "failed"}, alone())
    assert (found.only_with_us, found.flaky, found.plainly_too) == ([], [], ["a", "b"])


def test_a_test_that_does_not_end_or_is_skipped_with_us_has_not_passed() -> None:
    plain = {"a": "passed", "b": "passed", "c": "skipped"}
    found = peers.compare(plain, {"b": "skipped", "c": "skipped"}, alone(("a", False), ("b", False)))
    assert found.only_with_us == ["a", "b"]


def test_a_test_that_did_not_even_end_plainly_says_nothing_of_us() -> None:
    found = peers.compare({"a": "passed"}, {"a": "passed", "b": "failed"}, alone())
    assert (found.only_with_us, found.plainly_too) == ([], ["b"])


def test_a_test_that_fails_in_one_of_its_phases_has_failed(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    lines = [("a", "passed"), ("a", "failed"), ("b", "failed"), ("b", "passed"), ("c", "skipped")]
    kept.write_text("".join(json.dumps({"name": name, "ended": ended}) + "\n" for name, ended in lines))
    assert peers.read(kept) == {"a": "failed", "b": "failed", "c": "skipped"}
    assert peers.read(tmp_path / "nothing.jsonl") == {}


@pytest.mark.parametrize("suite", peers.SUITES)
def test_the_suites_are_those_of_the_versions_that_are_installed(suite: str) -> None:
    pin = peers.pinned(suite, peers.LIST.read_text(encoding="utf-8"))
    requirement = Requirement(pin.partition("\\")[0].strip())
    assert requirement in pins_of(peers.LIST)
    assert pin.count("--hash=sha256:") >= 2  # a wheel's and the source distribution's


def test_of_a_source_distribution_the_tests_are_kept_and_the_package_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "WORK", tmp_path)
    archive = tmp_path / "peer-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        for name in ("peer/__init__.py", "tests/test_peer.py", "pyproject.toml"):
            made.addfile(tarfile.TarInfo(f"peer-1.0/{name}"), io.BytesIO())
    folder = peers.unpack(archive)
    assert sorted(path.name for path in folder.iterdir()) == ["pyproject.toml", "tests"]
