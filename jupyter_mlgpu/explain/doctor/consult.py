"""The doctor as the command and the magic call it: gets facts from here or a file, saves and judges them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.diagnose import Diagnosis, diagnose
from jupyter_mlgpu.explain.doctor.gather import gather
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.sentence import Sentence


class DoctorError(MlgpuError):
    """The doctor itself failed before it could judge anything."""


def silent(sentence: Sentence) -> None:
    """Show no progress."""


def consult(
    *,
    facts_from: Path | None = None,
    save_to: Path | None = None,
    deep: bool = False,
    tell: Callable[[Sentence], None] = silent,
    inside: KernelsOwnFacts | None = None,
    start_kernels: bool = True,
) -> Diagnosis:
    """Judge this machine, or the one described in a file of facts; `tell` is called with progress sentences.

    With start_kernels=False, the Pythons of the installed kernels are not started, nor asked.

    Raises UsageError if --deep is combined with a file, RecordError if a file cannot be read or written, and
    DoctorError for every other failure.
    """
    if facts_from is not None and deep:
        raise UsageError(
            "--deep asks the frameworks of this machine, and --facts reads another one's: choose one, or "
            "gather the facts there with `jupyter mlgpu doctor --deep --save-facts FILE`."
        )
    try:
        facts = (
            gather(deep=deep, tell=tell, inside=inside, start_kernels=start_kernels)
            if facts_from is None
            else reading.load(facts_from)
        )
        if save_to is not None:
            reading.save(save_to, facts)
        return diagnose(facts)
    except MlgpuError:
        raise
    except Exception as error:
        raise DoctorError(
            f"The doctor failed before it could judge anything ({type(error).__name__}: {error}); "
            "please report it."
        ) from error


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return "zh" if the environment asks for Chinese, else "en"."""
    chosen = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if chosen.lower().startswith("zh") else "en"
