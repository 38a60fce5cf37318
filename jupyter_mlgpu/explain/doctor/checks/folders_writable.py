"""Data sets, weights and settings are kept in the home folder, parts of a download in the temporary one.

Sources: huggingface/datasets#1581, kubeflow/kubeflow#7626, uabrc/uabrc.github.io#603 (Keras falls back to
/tmp/.keras).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("The folders that frameworks use are writable")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the home folder, the temporary one or a cache is not writable."""
    storage = facts.storage
    denied = []
    if not known(storage.home_writable):
        denied.append(say("The home folder is not writable."))
    if not known(storage.temporary_writable):
        denied.append(say("The temporary folder is not writable."))
    caches = [one.name for one in known_or(storage.caches, ()) if not known_or(one.writable, True)]
    denied += [say("The {name} cache is not writable.", name=name) for name in caches]
    if not denied:
        return Fine(say("The home folder, temporary folder and caches are writable."))
    return Finding(
        title=say("A folder where frameworks keep data is not writable."),
        evidence=joined(*denied),
        remedy=as_written(
            'mkdir -p "$PWD/.cache/tmp"\n'
            'export KERAS_HOME="$PWD/.cache/keras" HF_HOME="$PWD/.cache/huggingface"\n'
            'export TMPDIR="$PWD/.cache/tmp"'
        ),
        confidence="sure",
        cause=Cause.MACHINE,
    )
