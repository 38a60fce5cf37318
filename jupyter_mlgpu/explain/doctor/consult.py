"""What the command and the magic do alike: facts from here or from a file, kept if asked, and judged."""

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
    """The doctor itself failed, before it could judge anything."""


def silent(said: Sentence) -> None:
    """Told how far it is, says nothing."""


def consult(
    *,
    facts_from: Path | None = None,
    save_to: Path | None = None,
    deep: bool = False,
    tell: Callable[[Sentence], None] = silent,
    inside: KernelsOwnFacts | None = None,
) -> Diagnosis:
    """Judge this machine, or the one whose facts stand in a file; `tell` is given how far it is.

    Raises UsageError where a file's machine is to be asked, RecordError for a file that cannot be read or
    written, DoctorError for everything else that keeps it from judging.
    """
    if facts_from is not None and deep:
        raise UsageError(
            "--deep asks the frameworks of this machine, and --facts reads another one's: choose one, or "
            "gather the facts there with `jupyter mlgpu doctor --deep --save-facts FILE`."
        )
    try:
        facts = (
            gather(deep=deep, tell=tell, inside=inside) if facts_from is None else reading.load(facts_from)
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
    """English, or Chinese where the environment asks for it."""
    chosen = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if chosen.lower().startswith("zh") else "en"
