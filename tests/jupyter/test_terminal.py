"""In a terminal's IPython the receipt is a line of text, and nothing else changes."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.kernel


def ipython(code: str, tmp_path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
        input=code,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "IPYTHONDIR": str(tmp_path), **environment},
        check=True,
    )
    return done.stdout + done.stderr


def test_a_receipt_is_printed_under_each_input(tmp_path):
    shown = ipython("%load_ext jupyter_mlgpu\n40 + 2\nexit\n", tmp_path, JUPYTER_MLGPU_RECEIPTS="all")
    assert "42" in shown
    assert "[mlgpu] " in shown
    assert shown.index("42") < shown.index("[mlgpu]")


def test_a_profile_alone_has_no_receipts_printed_and_a_cell_that_loads_us_then_has(tmp_path):
    (tmp_path / "profile_default").mkdir()
    settings = tmp_path / "profile_default" / "ipython_config.py"
    settings.write_text('c.InteractiveShellApp.extensions = ["jupyter_mlgpu"]\n')
    long = "import time; time.sleep(0.2);"
    shown = ipython(f"{long} 40 + 2\n%load_ext jupyter_mlgpu\n{long} 50 + 2\nexit\n", tmp_path)
    assert shown.index("42") < shown.index("52") < shown.index("[mlgpu]")


def test_errors_and_mistakes_read_as_in_a_notebook(tmp_path):
    shown = ipython("%load_ext jupyter_mlgpu\n1/0\n%mlc_trace bogus\nexit\n", tmp_path)
    assert "ZeroDivisionError" in shown
    assert "[mlgpu] error: " in shown
    assert "UsageError: Unknown command 'bogus'" in shown


def test_after_unloading_no_receipt_is_printed(tmp_path):
    shown = ipython("%load_ext jupyter_mlgpu\n%unload_ext jupyter_mlgpu\n40 + 2\nexit\n", tmp_path)
    assert "[mlgpu]" not in shown
