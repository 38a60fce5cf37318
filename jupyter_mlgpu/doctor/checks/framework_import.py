"""A framework that is installed and cannot be imported says why in its traceback.

Sources: tensorflow/tensorflow#62825, tensorflow/tensorflow#51699 (module 'gast' has no attribute 'Index').
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.loading import loaders_line
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import as_written, pinned, run

ID = "framework-import"
TITLE = "Every framework can be imported"


def judge(facts: Facts) -> Verdict:
    """A finding where an import failed with an error that is none of the loader's."""
    packages = known(facts.packages)
    for name, answer in sorted(known(facts.frameworks).items()):
        error = (known_or(answer.error, None) or "").strip()
        if known_or(answer.imported, True) or known_or(answer.signal, None):
            continue
        if not error or loaders_line(error) is not None:
            continue
        return Finding(
            title=f"{name} is installed and cannot be imported.",
            evidence=f"It says: {error.splitlines()[-1][:300]}",
            remedy=run("pip", "install", "--force-reinstall", *pinned([name], packages))
            + as_written("pip check"),
            confidence="likely",
            cause=Cause.FRAMEWORKS,
        )
    return Fine("Each framework that was asked was imported.")
