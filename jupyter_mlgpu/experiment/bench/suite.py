"""Which families of cases there are, and choosing among them by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence

from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest, Family
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.words import unknown

#: Each family's name -> where its function is (see `case.Family`); imported only when it is asked for.
FAMILIES: Mapping[str, str] = {
    "gemm": "jupyter_mlgpu.experiment.bench.families:gemm",
    "bandwidth": "jupyter_mlgpu.experiment.bench.families:bandwidth",
    "transfer": "jupyter_mlgpu.experiment.bench.families:transfer",
    "conv": "jupyter_mlgpu.experiment.bench.families:conv",
    "dispatch": "jupyter_mlgpu.experiment.bench.families:dispatch",
    "resnet50": "jupyter_mlgpu.experiment.bench.models:resnet50",
    "mobilenetv2": "jupyter_mlgpu.experiment.bench.models:mobilenetv2",
    "distilbert": "jupyter_mlgpu.experiment.bench.models:distilbert",
    "bert-large": "jupyter_mlgpu.experiment.bench.models:bert_large",
}

#: What runs where no family is named: seconds, not minutes.
SMALL = ("gemm", "bandwidth", "transfer", "conv", "dispatch")


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The families named, each once; the small ones where none is. Raises UsageError for an unknown one."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(unknown(say("case"), name, FAMILIES))
    return tuple(dict.fromkeys(names)) or SMALL


def cases(name: str, asked: CaseRequest) -> tuple[Case, ...]:
    """The cases of a family for a framework and a device."""
    module, _, attribute = FAMILIES[name].partition(":")
    family: Family = getattr(importlib.import_module(module), attribute)
    return tuple(family(asked))
