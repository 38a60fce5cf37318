"""`jupyter mlgpu strip --git-filter`: git leaves our receipts out of commits, and no file is touched."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jupyter_mlgpu.jupyter.cli import main
from tests.jupyter.test_cli_strip import PRINTED, RECEIPT, as_jupyter_writes, notebook

ROOT = Path(__file__).parents[2]
PAGE = {
    "output_type": "execute_result",
    "data": {"application/vnd.jupyter-mlgpu.page+json": {}, "text/plain": "a race"},
    "metadata": {},
    "execution_count": 1,
}
KEPT_LINE = {"output_type": "display_data", "data": {"text/plain": "[mlgpu] 20 ms"}, "metadata": {}}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # git runs Python in a folder of its own; under another Python than .venv's, ours is not installed.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    git("init", "-q")
    return tmp_path


def test_what_is_committed_has_no_receipt_and_the_file_keeps_it(repository, capsys):
    assert main(["strip", "--git-filter"]) == 0
    assert "git config --remove-section filter.jupyter-mlgpu" in capsys.readouterr().out
    file = repository / "a.ipynb"
    file.write_text(as_jupyter_writes(notebook([RECEIPT, PRINTED])))
    git("add", "a.ipynb")
    assert git("show", ":a.ipynb") == as_jupyter_writes(notebook([PRINTED]))
    assert file.read_text() == as_jupyter_writes(notebook([RECEIPT, PRINTED]))
    assert git("diff") == ""


def test_it_is_set_up_once_however_often_it_is_asked_for_and_then_takes_all_of_ours(repository):
    assert main(["strip", "--git-filter"]) == main(["strip", "--git-filter", "--all"]) == 0
    assert (repository / ".git/info/attributes").read_text().count("filter=jupyter-mlgpu") == 1
    (repository / "a.ipynb").write_text(as_jupyter_writes(notebook([PAGE, PRINTED])))
    git("add", "a.ipynb")
    assert git("show", ":a.ipynb") == as_jupyter_writes(notebook([PRINTED]))


def test_what_is_no_notebook_is_committed_as_it_is(repository):
    main(["strip", "--git-filter"])
    (repository / "a.ipynb").write_bytes(b"\xff no notebook")
    git("add", "a.ipynb")
    assert subprocess.run(["git", "show", ":a.ipynb"], capture_output=True).stdout == b"\xff no notebook"


def test_another_filter_of_notebooks_is_left_alone(repository, capsys):
    (repository / ".gitattributes").write_text("*.ipynb filter=nbstripout\n")
    assert main(["strip", "--git-filter"]) == 2
    assert "Notebooks already go through the git filter 'nbstripout'" in capsys.readouterr().err


def test_outside_of_a_repository_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["strip", "--git-filter"]) == 2
    assert "git failed here (fatal: not a git repository" in capsys.readouterr().err


def test_all_takes_races_plans_and_benchmarks_and_without_it_they_stay(tmp_path, capsys):
    file = tmp_path / "a.ipynb"
    file.write_text(as_jupyter_writes(notebook([PAGE, RECEIPT, PRINTED, KEPT_LINE])))
    assert main(["strip", str(file)]) == 0
    assert file.read_text() == as_jupyter_writes(notebook([PAGE, PRINTED]))
    assert main(["strip", "--all", str(file)]) == 0
    assert file.read_text() == as_jupyter_writes(notebook([PRINTED]))
    assert main(["strip", "--all", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{file}: removed 1 output.",
        f"{file}: no outputs of jupyter_mlgpu, left unchanged.",
    ]


def test_without_a_notebook_it_says_what_to_give(capsys):
    assert main(["strip"]) == 2
    assert "name their files, or use --git-filter." in capsys.readouterr().err


def test_standard_input_goes_stripped_to_standard_output(monkeypatch, capfdbinary):
    text = as_jupyter_writes(notebook([RECEIPT, PRINTED]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["strip", "-"]) == 0
    sys.stdout.flush()
    assert json.loads(capfdbinary.readouterr().out) == notebook([PRINTED])


def test_the_hook_for_pre_commit_runs_a_command_that_there_is():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split() == ["jupyter-mlgpu", "strip"]
    assert hook["types"] == ["jupyter"]
