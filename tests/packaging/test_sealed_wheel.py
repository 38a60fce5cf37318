"""An installed wheel: what it ships of solutions and hidden tests is out of a submission's reach."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from tests.packaging.conftest import Environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

#: Prints how many files the wheel has in the folders, and which a submission and the probe could read.
ATTEMPT = """
import json, os, sys
from pathlib import Path
import jupyter_mlgpu
from jupyter_mlgpu.teach.grading import probe
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student
READ = '''
import os, sys
def read(folder):
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(place, name), 'rb') as file:
                    found.append((os.path.join(place, name), file.read()))
            except OSError:
                pass
    return [path for path, data in found if b'BEGIN SOLUTION' in data or b'BEGIN HIDDEN' in data
            or path.endswith('.ipynb') or os.path.basename(path).startswith('lesson_')]
'''
package = os.path.dirname(jupyter_mlgpu.__file__)
namespace = {}
exec(READ, namespace)
with Student(SANDBOXES["bubblewrap"], seconds=120, limits=Limits(2 * 1024**3)) as student:
    student.run(READ)
    inside, _ = student.call("read", (package,), {})
    imported = student.run("import jupyter_mlgpu.lessons")
broken = probe.find_leaks(SANDBOXES["bubblewrap"], [])
print(json.dumps([len(namespace["read"](package)), inside, imported, broken]))
"""


def test_of_an_installed_wheel_no_solution_no_hidden_test_and_no_reference_answer_can_be_read(
    environment: Callable[..., Environment],
) -> None:
    done = environment().run("-c", ATTEMPT)
    assert done.returncode == 0, done.stderr
    shipped, inside, imported, broken = json.loads(done.stdout)
    assert shipped > 60
    assert inside == []
    assert imported == []
    assert broken == []
