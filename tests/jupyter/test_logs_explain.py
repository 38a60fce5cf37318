"""`jupyter mlgpu explain` says what a log means, wherever the log comes from and whatever is in it."""

import io
import json
import os
import pty
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.jupyter.cli.explain import WINDOW

DEVICE = "Metal device set to: Apple M1 Max"
OUT_OF_MEMORY = (
    "RuntimeError: MPS backend out of memory (MPS allocated: 5.00 GB, other allocations: 1.00 GB, "
    "max allowed: 6.80 GB). Tried to allocate 1.00 GB on private pool. Use "
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system "
    "failure)."
)
KEYS = ["text", "id", "verdict", "meaning", "advice", "fields", "count"]
PROGRAM = [
    sys.executable,
    "-c",
    "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())",
    "explain",
]


@pytest.fixture(autouse=True)
def english(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def explain(tmp_path, capsys):
    def run(log: str | bytes, *words: str) -> str:
        path = tmp_path / "some.log"
        path.write_bytes(log.encode() if isinstance(log, str) else log)
        assert cli.main(["explain", *words, str(path)]) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return run


@pytest.fixture
def objects(explain):
    def run(log: str | bytes, *words: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in explain(log, "--json", *words).splitlines()]

    return run


def test_a_message_is_shown_with_verdict_meaning_advice_count_and_the_raw_line(explain):
    shown = explain(f"{DEVICE}\n{DEVICE}\n")
    assert shown.startswith("2 information\n\nInformation\n")
    assert "Apple M1 Max" in shown.split("→")[0]
    assert "→ Nothing to do." in shown
    assert f"[metal-device-set] ×2\n    {DEVICE}\n" in shown


def test_the_worst_comes_first_and_what_is_not_known_last(explain):
    shown = explain(f"step 1\n{DEVICE}\nstep 2\n{OUT_OF_MEMORY}\n")
    assert shown.index("\nFatal\n") < shown.index("\nInformation\n") < shown.index("\nNot known\n")


def test_what_is_not_known_is_grouped_by_shape(explain):
    shown = explain("".join(f"step {number} of 500\n" for number in range(500)))
    assert "  ×500\n    step 0 of 500\n" in shown
    assert "step 1 of" not in shown


def test_control_characters_are_shown_and_not_obeyed(explain):
    shown = explain(b"a\x00b\x07\x1b\xff\xe2\x80\xae end \x1b[2J\n")
    assert "a\\u0000b\\u0007\\u001b\\xff\\u202e end" in shown


def test_markup_in_a_line_is_only_text(explain):
    assert "    [red]<script>alert(1)</script>[/red]\n" in explain("[red]<script>alert(1)</script>[/red]")


def test_a_long_message_is_cut_on_the_screen(explain):
    shown = explain("x" * 3000)
    assert "… [1,000 more characters]" in shown


def test_a_log_without_messages_says_so(explain):
    assert explain("\n\n") == "This log contains no messages.\n"


def test_what_was_left_out_is_said(explain):
    assert "1 line was too long to keep whole" in explain("x" * 200_000)


def test_json_is_one_object_a_message_in_order(objects):
    found = objects(f"step 1\n{DEVICE}\nWARNING:absl:nobody knows this\n")
    assert [list(each) for each in found] == [KEYS] * 3
    assert [each["text"] for each in found] == ["step 1", DEVICE, "WARNING:absl:nobody knows this"]
    assert found[0] == dict(zip(KEYS, ["step 1", None, "unknown", None, None, {}, 1], strict=True))
    assert found[1]["id"] == "metal-device-set"
    assert found[1]["fields"] == {"device": "Apple M1 Max"}


def test_json_folds_what_is_the_same_but_for_its_time(objects):
    lines = [f"2021-06-14 09:32:{second:02}.000001: I tensorflow/x.cc:1] hello\n" for second in range(60)]
    (found,) = objects("".join(lines))
    assert found["count"] == 60
    assert found["text"] == lines[0].rstrip()


def test_json_folds_within_a_window_only(objects):
    words = ["".join(random.Random(number).choices("abcdefgh", k=12)) for number in range(WINDOW)]
    found = objects("\n".join(["same", *words, "same"]))
    assert [each["count"] for each in found if each["text"] == "same"] == [1, 1]
    found = objects("\n".join(["same", *words[1:], "same"]))
    assert [each["count"] for each in found if each["text"] == "same"] == [2]


def test_json_keeps_a_message_of_several_lines_whole(objects):
    text = "W tensorflow/x.cc:12] Out of something\n\t [[{{node a}}]]"
    assert [each["text"] for each in objects(f"{text}\nprinted\n")] == [text, "printed"]


def test_json_folds_the_states_of_a_progress_bar(objects):
    bar = "".join(f"\r{n}%|{'█' * (n // 10):10}| {n}/100 [00:{n:02}<00:01, 25.31it/s]" for n in range(60))
    assert sum(each["count"] for each in objects(f"{bar}\n")) == 60
    assert len(objects(f"{bar}\n")) == 2  # the states that were overwritten, and the last


def test_both_forms_count_the_same_messages(explain, objects):
    log = "".join(f"{DEVICE}\nstep {n}\nW a/x.cc:1] Devices:\nof {n}\n  indented\n\n" for n in range(40))
    heading = explain(log).splitlines()[0]
    assert sum(each["count"] for each in objects(log)) == 40 * 3
    assert heading == "40 information, 80 not known"


def test_chinese_is_asked_for_by_option(explain, objects):
    shown = explain(f"{DEVICE}\nstep 1\n", "--language", "zh")
    assert shown.startswith("1 信息, 1 未知\n")
    assert "→ 不必处理" in shown
    assert "的 GPU" in str(objects(DEVICE, "--language", "zh")[0]["meaning"])


@pytest.mark.parametrize(
    ("variables", "heading"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "信息"),
        ({"LANG": "de_DE.UTF-8"}, "Information"),
        ({"LC_ALL": "zh_CN.UTF-8", "LANG": "C"}, "信息"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "Information"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8"}, "信息"),
        ({}, "Information"),
    ],
)
def test_the_environment_chooses_the_language(explain, monkeypatch, variables, heading):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert f"\n{heading}\n" in explain(DEVICE)


def test_another_language_is_refused_in_one_sentence(tmp_path, capsys):
    assert cli.main(["explain", "--language", "fr", str(tmp_path)]) == 2
    assert "Unknown word 'fr' after --language. Choose en, zh." in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["-"]])
def test_standard_input_is_read(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DEVICE.encode())))
    assert cli.main(["explain", *words]) == 0
    assert "[metal-device-set]" in capsys.readouterr().out


def test_at_a_terminal_without_a_file_it_says_what_to_do():
    ours, its = pty.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(its, "rb") as terminal:
        done = subprocess.run(PROGRAM, stdin=terminal, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == (
        "jupyter mlgpu: Nothing to explain: name a file, pipe a log into the command, "
        "or type `-` to paste a log.\n"
    )


def test_a_pipe_that_nobody_writes_to_is_refused_and_one_of_the_shell_is_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "training.log")
    status = []
    words = ["explain", str(tmp_path / "training.log")]
    command = threading.Thread(target=lambda: status.append(cli.main(words)), daemon=True)
    command.start()
    command.join(20)
    assert status == [2]
    assert "cannot be read as a log, for it is a pipe (FIFO)" in capsys.readouterr().err
    read, write = os.pipe()  # as of `explain <(zcat training.log.gz)`
    os.write(write, b"a line of a log\n")
    os.close(write)
    assert cli.main(["explain", f"/dev/fd/{read}"]) == 0
    os.close(read)
    assert "a line of a log" in capsys.readouterr().out


def test_a_binary_file_just_works(explain, objects):
    garbage = random.Random(3).randbytes(200_000) + bytes(range(256)) * 40
    assert "Not known" in explain(garbage)
    assert objects(garbage)


def test_a_byte_order_mark_hides_nothing(objects):
    (found,) = objects(b"\xef\xbb\xbf2021-06-14 09:32:11.123456: I tensorflow/x.cc:12] hello\n")
    assert str(found["text"]).startswith("2021")


def test_windows_line_ends_are_no_part_of_the_text(objects):
    assert [each["text"] for each in objects("one\r\ntwo\r\n")] == ["one", "two"]


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_reader_that_stops_early_is_no_error(words, tmp_path):
    log = tmp_path / "long.log"
    chance = random.Random(1)
    log.write_text("\n".join("".join(chance.choices("abcdefgh", k=60)) for _ in range(60_000)))
    command = subprocess.Popen(
        [*PROGRAM, *words, str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert command.stdout is not None
    assert command.stderr is not None
    assert command.stdout.readline()
    command.stdout.close()
    assert command.stderr.read() == ""
    assert command.wait(60) == 0
    command.stderr.close()


def test_a_terminal_that_lacks_characters_shows_them_escaped(tmp_path):
    log = tmp_path / "some.log"
    log.write_text("naïve 中文\n", encoding="utf-8")
    done = subprocess.run(
        [*PROGRAM, str(log)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "na\\xefve \\u4e2d\\u6587" in done.stdout


@pytest.mark.parametrize(
    ("at_terminal", "patience", "tells"), [(True, 0, True), (True, 9, False), (False, 0, False)]
)
def test_a_terminal_is_told_how_far_a_long_run_is(
    at_terminal, patience, tells, tmp_path, monkeypatch, capsys
):
    log = tmp_path / "long.log"
    log.write_text("a line\n" * 400_000)
    monkeypatch.setattr("jupyter_mlgpu.jupyter.cli.explain._PATIENCE", patience)
    monkeypatch.setattr("jupyter_mlgpu.jupyter.cli.explain._EVERY", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: at_terminal)
    assert cli.main(["explain", str(log)]) == 0
    said = capsys.readouterr().err
    assert ("3 of 3 MB read …" in said) == tells
    assert said.endswith("\r\x1b[K") == tells


def test_the_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explain", "--help"])
    assert "jupyter mlgpu explain training.log" in capsys.readouterr().out


def test_explaining_loads_no_framework_and_no_jupyter(tmp_path):
    log = Path(tmp_path / "some.log")
    log.write_text(DEVICE)
    code = (
        f"import sys; from jupyter_mlgpu.jupyter.cli import main; main(['explain', {str(log)!r}]);"
        "print(sorted({'numpy', 'tensorflow', 'torch', 'IPython', 'ipykernel', 'plotly'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("a folder", "for it is a folder; give the name of a file."),
        ("what is not there", "(No such file or directory); check the path and try again."),
        ("a broken link", "(No such file or directory); check the path and try again."),
        ("a file that a folder should be", "(Not a directory); check the path and try again."),
        ("a file without permission", "(Permission denied); check the path and try again."),
        ("a file that fails while it is read", "(Input/output error); check the path and try again."),
        ("a folder that a shell has opened", "(Is a directory); check the path and try again."),
        ("what no shell has opened", "(No such file or directory); check the path and try again."),
    ],
)
def test_what_cannot_be_read_is_one_sentence(kind, why, tmp_path, capsys, monkeypatch):
    path = tmp_path / "some.log"
    opened = os.open(tmp_path, os.O_RDONLY)
    if kind == "a folder":
        path.mkdir()
    elif kind == "what is not there":
        assert not path.exists()
    elif kind == "a broken link":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "a file that a folder should be":
        path.touch()
        path /= "some.log"
    elif kind == "a file without permission":
        path.touch(0)
        if os.geteuid() == 0:  # whom no file refuses

            def refuse(*_: object) -> int:
                raise PermissionError(13, "Permission denied")

            monkeypatch.setattr(os, "open", refuse)
    elif kind == "a file that fails while it is read":
        path = Path("/proc/self/mem")  # nothing is mapped at its first byte
    elif kind == "a folder that a shell has opened":
        path = Path(f"/dev/fd/{opened}")
    else:
        path = Path("/dev/fd/99999")
    assert cli.main(["explain", str(path)]) == 2
    monkeypatch.undo()
    os.close(opened)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"jupyter mlgpu: {path} cannot be read as a log")
    assert shown.err.endswith(f"{why}\n")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["-"]])
def test_a_standard_input_that_was_closed_is_nothing_to_explain(words):
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("jupyter mlgpu: Nothing to explain: name a file")
    assert done.stderr.count("\n") == 1


def test_a_standard_input_that_fails_is_one_sentence():
    with open("/proc/self/mem", "rb") as failing:
        done = subprocess.run(PROGRAM, stdin=failing, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "jupyter mlgpu: Standard input cannot be read as a log (Input/output error); "
        "check the path and try again.\n"
    )
