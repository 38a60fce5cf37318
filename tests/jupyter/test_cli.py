"""The command line: what is typed wrongly is answered in one sentence, and nothing heavy starts."""

import subprocess
import sys

import pytest

from jupyter_mlgpu import __version__
from jupyter_mlgpu.jupyter import cli


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to stderr, which must be one line."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_valid_ones(capsys):
    assert cli.main(["rum", "lesson.ipynb"]) == 2
    assert said(capsys) == (
        "jupyter mlgpu: Unknown command 'rum'. Did you mean run? Choose run, doctor, lessons, strip, "
        "explain, bench, mcp, class. `jupyter mlgpu --help` explains each."
    )


def test_an_unknown_option_is_one_sentence(capsys):
    assert cli.main(["run", "lesson.ipynb", "--out", "o", "--fast"]) == 2
    told = said(capsys)
    assert told.startswith("jupyter mlgpu: Unknown word '--fast' after jupyter mlgpu run. ")
    assert told.endswith(" `jupyter mlgpu run --help` shows an example.")


def test_a_missing_argument_is_one_sentence(capsys):
    assert cli.main(["run", "lesson.ipynb"]) == 2
    assert "required: --out." in said(capsys)


def test_an_option_is_not_guessed_from_its_beginning(capsys):
    assert cli.main(["run", "lesson.ipynb", "--out", "o", "--dev", "cpu"]) == 2
    assert "Unknown word '--dev' after jupyter mlgpu run. Did you mean --device?" in said(capsys)


def test_help_names_every_command(capsys):
    shown = help_of(capsys)
    assert all(f"  {name} " in shown for name in cli.COMMANDS)


def test_no_words_at_all_show_the_help(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([])
    assert ended.value.code == 0
    assert "every day:" in capsys.readouterr().out


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_help_of_each_command_has_an_example(command, capsys):
    assert f"\n  jupyter mlgpu {command} " in help_of(capsys, command)


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"jupyter_mlgpu {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["strip", "--help"]])
def test_help_starts_nothing_heavy(words):
    code = (
        "import sys\nfrom jupyter_mlgpu.jupyter.cli import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "print(sorted({'asyncio', 'jupyter_client', 'nbclient', 'nbformat', 'numpy', 'plotly', 'rich'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("words", [[], ["run"], ["doctor"], ["bench"]])
def test_help_begins_with_what_one_types_every_day(capsys, words):
    shown = help_of(capsys, *words)
    assert 0 < shown.index("every day:") < shown.index("more:")


def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(capsys):
    assert cli.main(["doctor", "--dep"]) == 2
    assert "Did you mean --deep?" in said(capsys)
    assert cli.main(["doctor", "--language", "zhh"]) == 2
    assert "Did you mean zh?" in said(capsys)
