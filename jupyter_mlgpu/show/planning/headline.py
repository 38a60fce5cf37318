"""The headline of a plan: the target machine, and the operations on its device and on the CPU."""

from __future__ import annotations

from collections import Counter

from jupyter_mlgpu.graphs.planning.forecast import Plan
from jupyter_mlgpu.record.sentence import Sentence, say, say_count

#: Most operations on the CPU that are named.
_NAMED = 3

#: The target comes first, because a plan is made, and often read, on a different machine.
_FOR = {
    "metal": say("Planned for a Mac"),
    "metal-community": say("Planned for a Mac with the community plug-in"),
    "cuda": say("Planned for CUDA"),
    "mlcompute": say("Planned for a Mac with ML Compute"),
}


def headline(plan: Plan) -> Sentence:
    """Return the answer as one sentence."""
    return say("{target}: {verdict}", target=_FOR[plan.target.where], verdict=_verdict(plan))


def _verdict(plan: Plan) -> Sentence:
    total, left = len(plan.placements), Counter(one.operation for one in plan.placements if not one.on_device)
    cpu = sum(left.values())
    # For ML Compute only the existence of a layer is known, so operations "could" run there.
    run = say("would run on the GPU") if plan.target.is_gpu else say("could run in ML Compute")
    if not total:
        return say("no operation to place.")
    if not cpu:
        return say_count("the only operation {run}.", "all {count} operations {run}.", total, run=run)
    if cpu == total:
        return say(
            "none of the {total} operations {run} ({names}).", total=total, run=run, names=_names(left)
        )
    return say_count(
        "{there} of {total} operations {run}; {count} stays on the CPU ({names}).",
        "{there} of {total} operations {run}; {count} stay on the CPU ({names}).",
        cpu,
        there=total - cpu,
        total=total,
        run=run,
        names=_names(left),
    )


def _names(left: Counter[str]) -> str:
    """Return the names of operations, the most frequent first."""
    names = [name for name, _ in left.most_common()]
    shown = ", ".join(names[:_NAMED])
    if len(names) <= _NAMED:
        return shown
    return say("{names} and {more} more", names=shown, more=len(names) - _NAMED)
