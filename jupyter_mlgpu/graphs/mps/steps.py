"""Makes the step that is traced: a module's forward pass, its training step, or the user's own function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

Step = Callable[..., Any]


def unwrapped(subject: Any) -> Any:
    """Return what a compiled or parallel module, or a compiled function, was made from."""
    from torch.nn import DataParallel
    from torch.nn.parallel import DistributedDataParallel

    while True:
        if isinstance(subject, DataParallel | DistributedDataParallel):
            subject = subject.module
            continue
        # `getattr` of a module would look the name up among its weights.
        attributes = getattr(subject, "__dict__", {})
        modules = attributes.get("_modules")
        inner = modules.get("_orig_mod") if isinstance(modules, dict) else None
        inner = inner or attributes.get("_torchdynamo_orig_callable")
        if inner is None:
            return subject
        subject = inner


def left_out(subject: Any) -> Sentence:
    """Return what is not planned of a compiled or parallel module, which `unwrapped` unwraps."""
    from torch.nn import DataParallel
    from torch.nn.parallel import DistributedDataParallel

    if isinstance(subject, DataParallel | DistributedDataParallel):
        return say("It was planned for one GPU, without {kind}.", kind=type(subject).__name__)
    return say("It was planned without `torch.compile`.")


def is_module(subject: Any) -> bool:
    """Return True for a PyTorch module."""
    from torch.nn import Module

    return isinstance(subject, Module)


def described(subject: Any, train: bool) -> Sentence:
    """Return what is planned, in words."""
    from torch.nn import Module

    if not isinstance(subject, Module):
        return say("function {name}", name=getattr(subject, "__name__", type(subject).__name__))
    if train:
        return say("training step of {name}", name=type(subject).__name__)
    return say("forward pass of {name}", name=type(subject).__name__)


def has_targets(arguments: tuple[Any, ...]) -> bool:
    """Return True if a module's arguments have something to learn: a y, or labels in a dictionary."""
    first = arguments[0] if arguments else None
    return len(arguments) > 1 or (isinstance(first, Mapping) and "labels" in first)


def forward_pass(module: Any) -> Step:
    """Return a function that calls the module with one input, a dictionary by its names."""

    def forward(*given: Any) -> Any:
        return _called(module, given)

    return forward


def training_step(module: Any, assumptions: list[Sentence]) -> Step:
    """Return a function that trains a module on its input, or inputs, and a last argument to learn.

    The loss that was taken is added to `assumptions`.
    """

    def step(*given: Any) -> None:
        import torch

        module.train()
        optimizer = torch.optim.AdamW(
            [one for one in module.parameters() if one.requires_grad] or [torch.zeros(1)]
        )
        inputs, target = (given[:-1], given[-1]) if len(given) > 1 else (given, None)
        loss, name = _loss(_called(module, inputs), target)
        assumptions.append(
            say(
                "The loss was taken to be {loss} and the optimizer AdamW; for others, plan a function that "
                "does your own training step.",
                loss=name,
            )
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def _called(module: Any, given: tuple[Any, ...]) -> Any:
    if len(given) == 1 and isinstance(given[0], Mapping):
        return module(**given[0])
    return module(*given)


def _loss(made: Any, target: Any) -> tuple[Any, Sentence]:
    """Return the loss of a module's result, and its name: the result's own, or one that fits the target."""
    from torch import Tensor
    from torch.nn import functional
    from torch.utils._pytree import tree_leaves

    own = made.get("loss") if isinstance(made, Mapping) else getattr(made, "loss", None)
    if isinstance(own, Tensor):
        return own, say("the model's own")
    leaves = [
        one
        for one in tree_leaves(dict(made) if isinstance(made, Mapping) else made)
        if isinstance(one, Tensor)
    ]
    first = next((one for one in leaves if one.is_floating_point() or one.is_complex()), None)
    if first is not None and isinstance(target, Tensor):
        if target.dtype.is_floating_point and target.shape == first.shape:
            return functional.mse_loss(first, target), say("the mean squared error")
        if not target.dtype.is_floating_point and first.dim() >= 2:
            if target.shape == first.shape[:1] + first.shape[2:]:
                return functional.cross_entropy(first, target), say("cross entropy")
            if target.shape == first.shape[:-1]:
                flat = first.flatten(0, -2), target.flatten()
                return functional.cross_entropy(*flat), say("cross entropy")
    sums = [(one.abs() if one.is_complex() else one).sum() for one in leaves if one.requires_grad]
    if target is not None:
        return sum(sums), say("the sum of all outputs (no usual loss fits y)")
    return sum(sums), say("the sum of all outputs")
