"""The same through what starts a kernel: `jupyter mlgpu run`, and the magics of a running one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.fuzz import driver, mutations, seeds
from tests.support.kernels import Notebook

INPUTS = 20
COMMAND = [sys.executable, "-c", "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"]
#: What its cells do takes no time, for here they are run.
LESSON = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# A lesson\n", "of two cells"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["keep"]},
            "execution_count": 1,
            "source": ["x = 1\n", "x + 1"],
            "outputs": [
                {
                    "output_type": "execute_result",
                    "execution_count": 1,
                    "metadata": {},
                    "data": {"text/plain": "2"},
                }
            ],
        },
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {},
            "execution_count": None,
            "source": "print(x)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
        },
    ],
    "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}


def inputs(strategy: st.SearchStrategy[bytes]) -> list[bytes]:
    """Different ones, as many as are wanted."""
    found: list[bytes] = []
    driver.drawn(strategy, INPUTS, driver.SEED, found.append)
    return found


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Notebook]:
    notebook = Notebook(tmp_path, {})
    notebook.connect()
    assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
    yield notebook
    notebook.close()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_notebook_of_a_strangers_is_run_or_refused_in_a_sentence(tmp_path):
    statuses = set()
    for number, data in enumerate(inputs(mutations.of_json([LESSON]))):
        path = tmp_path / f"{number}.ipynb"
        path.write_bytes(data)
        words = [*COMMAND, "run", str(path), "--out", str(tmp_path / "out"), "--timeout", "20"]
        done = subprocess.run(words, capture_output=True, text=True, errors="strict", timeout=120)
        assert done.returncode in (0, 1, 2), (data, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr, (data, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("jupyter mlgpu: ")]
        assert len(said) == (1 if done.returncode else 0), (data, done.stderr)
        statuses.add(done.returncode)
    assert statuses >= {0, 2}  # some were run, and some refused


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_kernel_that_is_given_strangers_records_answers_each_command_and_goes_on(tmp_path, kernel):
    for number, data in enumerate(inputs(mutations.of_lines(seeds.records()))):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(data)
        for words in (
            f"load {path}",
            "show",
            "growth",
            "logs",
            f"save {tmp_path / 'saved.jsonl'}",
            f"export {tmp_path / 'trace.json'}",
            f"compare {path} {path}",
            f"replay {path}",
            "clear",
        ):
            ran = kernel.run(f"%mlc_trace {words}", timeout=30)
            assert "Traceback" not in str(ran.outputs), (words, data, ran)
            assert ran.error is None or ran.error.startswith("UsageError: "), (words, data, ran)
            if words.startswith(("show", "save", "clear")):
                assert ran.status == "ok", (words, data, ran)
        assert kernel.evaluate("6 * 7") == 42
