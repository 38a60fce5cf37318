"""In a kernel, a record tells native lines from prints of the same text."""

import pytest

pytestmark = pytest.mark.kernel


def test_a_kernel_tells_native_lines_from_prints_of_the_same_text(reload_kernel):
    notebook = reload_kernel(PYTEST_CURRENT_TEST=None)
    result = notebook.run(
        "import os, sys\n"
        "os.write(2, b'frobnicating 7 gadgets\\n'); print('frobnicating 7 gadgets', file=sys.stderr)\n"
        "os.write(2, b'and 8\\n'); _ = os.write(1, b'out\\n')"
    )
    assert result.receipt["native"]["streams"] == {
        "stdout": {"lines": 1, "native": [[0, 1]]},
        "stderr": {"lines": 3, "native": [[0, 1], [2, 1]]},
    }
