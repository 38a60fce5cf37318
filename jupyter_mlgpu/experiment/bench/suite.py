"""Which families of cases there are, and choosing among them by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest, Family
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.words import unknown

#: What runs where no family is named: seconds, not minutes.
SMALL = ("gemm", "bandwidth", "transfer", "conv", "dispatch")
#: Each family's name.
FAMILIES = (*SMALL, "resnet50", "mobilenetv2", "distilbert", "bert-large")


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The families named, each once; the small ones where none is. Raises UsageError for an unknown one."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(unknown(say("case"), name, FAMILIES))
    return tuple(dict.fromkeys(names)) or SMALL


def cases(name: str, asked: CaseRequest) -> tuple[Case, ...]:
    """The cases of a family for a framework and a device."""
    return tuple(_family(name)(asked))


def _family(name: str) -> Family:
    """The function that makes a family's cases; its module is imported when it is asked for."""
    if name in SMALL:
        from jupyter_mlgpu.experiment.bench import families

        small: Mapping[str, Family] = {
            "gemm": families.gemm,
            "bandwidth": families.bandwidth,
            "transfer": families.transfer,
            "conv": families.conv,
            "dispatch": families.dispatch,
        }
        return small[name]
    from jupyter_mlgpu.experiment.bench import models

    large: Mapping[str, Family] = {
        "resnet50": models.resnet50,
        "mobilenetv2": models.mobilenetv2,
        "distilbert": models.distilbert,
        "bert-large": models.bert_large,
    }
    return large[name]
