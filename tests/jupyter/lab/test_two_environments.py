"""JupyterLab in one environment and the kernel in another: tests/packaging runs this over an installed wheel.

A kernel without the package is in test_starting.py; what a kernel says where JupyterLab lacks it, in
tests/jupyter/test_who_hears_us.py.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab


def test_a_kernel_of_another_environment_is_traced_in_the_sidebar_of_this_one(lab: Lab) -> None:
    python = os.environ.get("JUPYTER_MLGPU_KERNEL")
    if python is None:
        pytest.skip("needs an environment of its own: tests/packaging/test_installed.py makes it")
    server_there = subprocess.run([python, "-c", "import jupyter_server"], capture_output=True)
    assert server_there.returncode != 0, "a kernel's environment needs no server"
    lab.server.add_kernel_command(
        "elsewhere", [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    )
    lab.write("elsewhere.ipynb", "6 * 7", kernel="elsewhere")
    lab.load("elsewhere.ipynb")  # a page knows the kernels that were there when it was loaded
    lab.wait_for_app()
    lab.show_sidebar()
    lab.sidebar.get_by_role("button", name="Start tracing").click()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.run_to_end(0)
    expect(lab.records).to_have_count(1)
    expect(lab.receipts).to_have_count(1)
