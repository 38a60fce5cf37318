"""The families of cases, choose by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest, Family
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import unknown
from jupyter_mlgpu.record.sentence import say

#: The families that run without a name: they take seconds, not minutes.
SMALL = ("gemm", "bandwidth", "transfer", "conv", "dispatch")
#: The family that runs for minutes.
BURN = "burn"
#: The names of all families.
FAMILIES = (*SMALL, BURN, "resnet50", "mobilenetv2", "distilbert", "bert-large")


def choose(names: Sequence[str]) -> tuple[str, ...]:
    """Return the named families, each once, or the small ones. Raises UsageError for an unknown name."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(unknown(say("case"), name, FAMILIES))
    return tuple(dict.fromkeys(names)) or SMALL


def cases(name: str, asked: CaseRequest) -> tuple[Case, ...]:
    """Return the cases of a family for a framework and a device."""
    return tuple(_family(name)(asked))


def _family(name: str) -> Family:
    """Return the function that makes a family's cases; its module is imported only now."""
    if name in (*SMALL, BURN):
        from jupyter_mlgpu.experiment.bench import families

        small: Mapping[str, Family] = {
            "gemm": families.gemm,
            "bandwidth": families.bandwidth,
            "transfer": families.transfer,
            "conv": families.conv,
            "dispatch": families.dispatch,
            BURN: families.burn,
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
