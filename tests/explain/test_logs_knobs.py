"""`%mlc_trace verbose`: variables that are read once are set in time, or the student is told how."""

import re
import subprocess
import sys

import pytest

from jupyter_mlgpu.explain.logs.knobs import FRAMEWORKS, KNOBS
from jupyter_mlgpu.explain.logs.verbose import LEVELS, Verbose, imported
from jupyter_mlgpu.record.errors import RestartNeededError, UsageError

TENSORFLOW = {"tensorflow": object()}


def test_on_sets_the_usable_mode_before_tensorflow_is_imported():
    environ: dict[str, str] = {}
    said = Verbose(environ).command("on", {})
    assert environ == {"TF_CPP_VMODULE": "execute=1,placer=1"}
    assert said.startswith("Set TF_CPP_VMODULE=execute=1,placer=1. ")
    assert "`%mlc_trace verbose off` undoes this." in said


def test_after_the_import_nothing_changes_and_the_cell_to_run_first_is_offered():
    environ: dict[str, str] = {}
    with pytest.raises(RestartNeededError) as refused:
        Verbose(environ).command("on", TENSORFLOW)
    assert environ == {}
    assert refused.value.verbose == "on"
    assert refused.value.sentence.startswith(
        "TensorFlow is already imported and has read its settings, so nothing was changed."
    )
    assert refused.value.by_hand == (
        "Restart the kernel, run this cell first and then the others up to here:\n\n"
        "import os\n"
        "os.environ['TF_CPP_VMODULE'] = 'execute=1,placer=1'\n"
        "%load_ext jupyter_mlgpu"
    )


def test_what_was_set_in_time_is_no_reason_for_a_restart():
    verbose = Verbose({})
    verbose.command("on", {})
    assert verbose.command("on", TENSORFLOW).startswith("Set TF_CPP_VMODULE=execute=1,placer=1. ")
    with pytest.raises(RestartNeededError):
        verbose.command("all", TENSORFLOW)
    verbose.command("off", TENSORFLOW)
    assert verbose.command("on", TENSORFLOW).startswith("Set ")


def test_what_was_put_back_in_time_was_never_read():
    verbose = Verbose({})
    verbose.command("on", {})
    verbose.command("off", {})
    with pytest.raises(RestartNeededError):
        verbose.command("on", TENSORFLOW)


def test_all_warns_of_its_price():
    said = Verbose({}).command("all", {})
    assert "55,000 lines" in said
    assert "12 times as long" in said


def test_off_puts_back_what_was_there_and_removes_what_was_not():
    environ = {"TF_CPP_VMODULE": "mine=2", "OTHER": "kept"}
    verbose = Verbose(environ)
    verbose.command("on", {})
    verbose.command("TORCH_LOGS=recompiles", {})
    verbose.command("TORCH_LOGS=guards", {})
    assert environ["TORCH_LOGS"] == "guards"
    assert verbose.command("off", {}) == "Restored: TF_CPP_VMODULE, TORCH_LOGS."
    assert environ == {"TF_CPP_VMODULE": "mine=2", "OTHER": "kept"}
    assert "nothing to undo" in verbose.command("off", {})


def test_a_level_takes_the_place_of_the_one_before():
    environ: dict[str, str] = {}
    verbose = Verbose(environ)
    verbose.command("all", {})
    verbose.command("on", {})
    assert environ == LEVELS["on"]
    verbose.command("off", {})
    assert environ == {}


def test_off_after_the_import_says_that_tensorflow_keeps_what_it_read():
    verbose = Verbose({})
    verbose.command("on", {})
    assert "TensorFlow may already have read them" in verbose.command("off", TENSORFLOW)


def test_unloading_puts_everything_back():
    environ = {"TF_MLC_LOGGING": "0"}
    verbose = Verbose(environ)
    verbose.command("mlc", {})
    verbose.restore()
    assert environ == {"TF_MLC_LOGGING": "0"}


def test_a_variable_that_would_hide_the_lines_is_set_aside():
    # Seen with TensorFlow 2.19.1: TF_CPP_MIN_LOG_LEVEL=1 hides every line that TF_CPP_VMODULE asks for.
    environ = {"TF_CPP_MIN_LOG_LEVEL": "2"}
    verbose = Verbose(environ)
    verbose.command("on", {})
    assert environ["TF_CPP_MIN_LOG_LEVEL"] == "0"
    verbose.command("all", {})
    assert environ["TF_CPP_MIN_LOG_LEVEL"] == "0"
    verbose.command("off", {})
    assert environ == {"TF_CPP_MIN_LOG_LEVEL": "2"}


def test_mlc_is_for_programs_started_from_here_whatever_is_imported():
    environ: dict[str, str] = {}
    said = Verbose(environ).command("mlc", TENSORFLOW)
    assert environ == {"TF_MLC_LOGGING": "1", "TF_NUM_INTEROP_THREADS": "1"}
    assert "never runs in this kernel" in said
    assert "python3.8 mlcompute_fork.py" in said


@pytest.mark.parametrize(
    ("command", "imported", "caution"),
    [
        ("TF_DISABLE_MLC_EAGER=;MatMul;Relu", {}, "Only Apple's fork reads"),
        (
            "PYTORCH_MPS_LOG_PROFILE_INFO=8",
            {"torch": object()},
            "PyTorch reads PYTORCH_MPS_LOG_PROFILE_INFO at its first use",
        ),
        (
            "TF_CPP_MIN_LOG_LEVEL=1",
            {"jax": object()},
            "JAX is already imported and keeps its TF_CPP_MIN_LOG_LEVEL until a restart.",
        ),
    ],
    ids=["with semicolons", "read at its first use", "that JAX has read already"],
)
def test_a_single_variable_is_set_as_it_was_given_with_a_word_of_caution(command, imported, caution):
    environ: dict[str, str] = {}
    assert caution in Verbose(environ).command(command, imported)
    assert environ == dict([command.split("=", 1)])


def test_a_variable_read_each_time_needs_no_restart():
    environ: dict[str, str] = {}
    said = Verbose(environ).command("AUTOGRAPH_VERBOSITY=3", TENSORFLOW)
    assert environ == {"AUTOGRAPH_VERBOSITY": "3"}
    assert "estart" not in said


def test_what_can_be_switched_without_a_restart_is_said():
    with pytest.raises(RestartNeededError) as refused:
        Verbose({}).command("JAX_LOG_COMPILES=1", {"jax": object()})
    assert refused.value.sentence.endswith('Without a restart: `jax.config.update("jax_log_compiles", True)`')
    assert refused.value.verbose == "JAX_LOG_COMPILES=1"


def test_the_status_tells_what_is_set_and_what_is_imported():
    environ = {"TF_CPP_MIN_LOG_LEVEL": "1"}
    verbose = Verbose(environ)
    verbose.command("TF_DISABLE_MLC=1", {})
    for words in ("", "status"):
        said = verbose.command(words, TENSORFLOW)
        assert "TF_CPP_MIN_LOG_LEVEL=1" in said
        assert "TF_DISABLE_MLC=1 (set here)" in said
        assert "changes need a kernel restart: TensorFlow." in said
    assert "No logging variable is set." in Verbose({}).command("", {})


@pytest.mark.parametrize("words", ["loud", "TF_CPP_VMODUL=a=1", "=1", "on off", "PATH=/"])
def test_words_that_are_not_known_get_one_sentence_with_an_example(words):
    environ: dict[str, str] = {}
    with pytest.raises(
        UsageError, match=r"choose on, all, mlc, off or status.*TF_CPP_VMODULE=execute=1"
    ) as found:
        Verbose(environ).command(words, {})
    assert "\n" not in str(found.value)
    assert environ == {}


@pytest.mark.parametrize(
    "words",
    [
        "TF_DISABLE_MLC_EAGER=MatMul;Relu",
        "TF_CPP_MAX_VLOG_LEVEL=high",
        "TF_CPP_MIN_LOG_LEVEL=7",
        "TF_CPP_VMODULE=execute",
        "TF_CPP_VMODULE=",
        "NCCL_DEBUG=info\nX",
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_one_that_does(words):
    name = words.partition("=")[0]
    environ: dict[str, str] = {}
    with pytest.raises(UsageError, match=re.escape(f"for example `%mlc_trace verbose {name}=")):
        Verbose(environ).command(words, {})
    assert environ == {}


@pytest.mark.parametrize("knob", KNOBS.values(), ids=lambda knob: knob.name)
def test_each_variable_has_its_example_and_explains_itself(knob):
    assert re.fullmatch(knob.pattern, knob.example)
    assert knob.framework in FRAMEWORKS
    said = Verbose({}).command(knob.name, {})
    assert said.startswith(f"{knob.name} {knob.does}. It takes ")
    assert knob.source in said


def test_the_levels_are_made_of_known_variables_with_fitting_values():
    for level in LEVELS.values():
        for name, value in level.items():
            assert re.fullmatch(KNOBS[name].pattern, value)


def test_a_framework_counts_as_imported_from_the_moment_its_import_begins():
    assert imported({"torch": None, "numpy": None}) == {"torch"}


def test_the_cell_offered_is_python_that_sets_the_variables():
    with pytest.raises(RestartNeededError) as refused:
        Verbose({}).command("TF_CPP_VMODULE=execute=1", TENSORFLOW)
    cell = refused.value.by_hand.partition("here:\n\n")[2].replace("%load_ext jupyter_mlgpu", "")
    code = f"{cell}\nprint(os.environ['TF_CPP_VMODULE'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "execute=1\n"
