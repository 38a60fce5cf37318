"""Devices that are wrong in the ways of reported errors: views misread, limits of size, lost duplicates.

Each kind of error is a function that replaces an operation's run. `#NUMBER` is an issue of pytorch/pytorch.
"""

from __future__ import annotations


def wrong_in(operation: str, error: str):
    """A dispatch mode in which one operation runs with an error of this name."""
    from torch.utils._python_dispatch import TorchDispatchMode

    run_wrongly = ERRORS[error]

    class WrongDevice(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function._schema.name.replace("::", ".") == operation:
                return run_wrongly(function, args, dict(kwargs or {}))
            return function(*args, **(kwargs or {}))

    return WrongDevice()


def _each(change, args):
    import torch

    return [change(one) if isinstance(one, torch.Tensor) else one for one in args]


def _in_memory_order(tensor):
    """The elements as they lie in memory, as a kernel reads them that knows no strides."""
    import torch

    return (
        tensor if tensor.is_contiguous() else torch.as_strided(tensor, tensor.shape, _strides(tensor.shape))
    )


def _strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def strides_ignored(function, args, kwargs):
    """#118115, #175191: inputs that are no contiguous memory are read in the order of memory."""
    return function(*_each(_in_memory_order, args), **kwargs)


def last_row_read_from_the_first(function, args, kwargs):
    """#197636: beyond a size, the last batch is computed from the first one."""
    import torch

    return function(*_each(lambda one: torch.cat([one[:-1], one[:1]]) if one.dim() else one, args), **kwargs)


def long_sums_end_early(function, args, kwargs):
    """#195163: of long products of sums, terms at the end are lost."""
    *others, left, right = args
    if left.shape[-1] >= 300:
        left = left.clone()
        left[..., -1] = 0
    return function(*others, left, right, **kwargs)


def nothing_written(function, args, kwargs):
    """A write into a view that never reaches it."""
    return args[0]


def first_row_left_out(function, args, kwargs):
    """A kernel that begins one row late."""
    before = args[0][0].clone()
    result = function(*args, **kwargs)
    args[0][0].copy_(before)
    return result


def old_memory(function, args, kwargs):
    """#193487: a result that holds what lay in its memory before."""
    result = function(*args, **kwargs)
    first = result if hasattr(result, "fill_") else result[0]
    first.fill_(3)
    return result


def last_elements_unset(function, args, kwargs):
    """A grid of threads one block short."""
    result = function(*args, **kwargs)
    first = result if hasattr(result, "fill_") else next(one for one in result if one is not None)
    first.flatten()[-1:].zero_() if first.is_contiguous() else first[..., -1:].zero_()
    return result


def rows_moved_by_one(function, args, kwargs):
    """Off by one in the rows."""
    result = function(*args, **kwargs)
    return result.roll(1, 0)


def in_32_bits(function, args, kwargs):
    """#189464: sums of whole numbers that overflow 32 bits."""
    import torch

    return function(*args, **kwargs).to(torch.int32).to(torch.int64)


def in_float32(function, args, kwargs):
    """#122916: whole numbers beyond 2**24 that pass through float32."""
    import torch

    return function(*_each(lambda one: one.to(torch.float32), args), **kwargs).to(args[0].dtype)


def nan_ignored(function, args, kwargs):
    """Largest and smallest values that skip NaN."""
    import torch

    return function(torch.nan_to_num(args[0], nan=-1e30), *args[1:], **kwargs)


def nan_made_zero(function, args, kwargs):
    """#84936: fast mathematics, which knows no NaN."""
    import torch

    return torch.nan_to_num(function(*args, **kwargs))


def beta_ignored(function, args, kwargs):
    """A scaled sum whose factors are left out."""
    return function(*args)


def other_dimension(function, args, kwargs):
    """dim=-1 taken as 0."""
    return function(args[0], 0, *args[2:], **kwargs)


def duplicates_lost(function, args, kwargs):
    """Of several values for one place, the last is kept, not their sum."""
    return function(*args[:-1], False, **kwargs) if args[-1] is True else _write(function, args)


def _write(function, args):
    return args[0].scatter(args[1], args[2], args[3])


def unstable(function, args, kwargs):
    """Places that belong to other values."""
    values, places = function(*args, **kwargs)
    return values, places.flip(-1)


def truncated_towards_zero(function, args, kwargs):
    """A conversion that rounds towards zero, not to the nearest."""
    import torch

    result = function(*args, **kwargs)
    back = result.to(torch.float64)
    beyond = back.abs() > args[0].to(torch.float64).abs()
    return torch.where(beyond, torch.nextafter(result, torch.zeros_like(result)), result)


def through_bytes(function, args, kwargs):
    """A conversion to a number type that goes through another, smaller one."""
    import torch

    target, source, *rest = args
    return function(target, source.to(torch.uint8), *rest, **kwargs)


def causal_from_below(function, args, kwargs):
    """With fewer queries than keys, the causal mask's corner is at the end, not at the start."""
    import torch

    query, key, value = args[:3]
    mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    mask = mask.tril(key.shape[-2] - query.shape[-2])
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
    result = list(function(*args, **kwargs))
    result[0].copy_(scores.softmax(-1) @ value)
    return tuple(result)


def second_gradient_halved(function, args, kwargs):
    """Right in the gradient of the input, wrong in that of the weight."""
    result = function(*args, **kwargs)
    result[1].mul_(0.5)
    return result


def third_gradient_halved(function, args, kwargs):
    """Wrong in the gradient of the bias alone."""
    result = function(*args, **kwargs)
    result[2].mul_(0.5)
    return result


def first_only_where_alone(function, args, kwargs):
    """#156555: the gradient of the input is wrong if that of the weight is not asked for."""
    result = function(*args, **kwargs)
    if not args[-1][1]:  # which gradients are asked for
        result[0].mul_(1.1)
    return result


def number_not_broadcast(function, args, kwargs):
    """A tensor of no dimension that is added to the first element only."""
    result = args[0].clone()
    result.view(-1)[:1] = function(args[0].reshape(-1)[:1], *args[1:], **kwargs)
    return result


def empty_is_one(function, args, kwargs):
    """A sum of nothing that is not 0."""
    result = function(*args, **kwargs)
    return result + 1 if not args[0].numel() else result


def momentum_forgotten(function, args, kwargs):
    """A running mean that keeps its old value."""
    before = args[3].clone()
    result = function(*args, **kwargs)
    args[3].copy_(before)
    return result


def rounds_halves_up(function, args, kwargs):
    """2.5 becomes 3."""
    import torch

    return torch.floor(args[0] + 0.5)


def approximate(function, args, kwargs):
    """GELU by tanh where it was to be exact."""
    kwargs["approximate"] = "tanh"
    return function(*args, **kwargs)


def ties_to_wrong_place(function, args, kwargs):
    """The place of the second largest."""
    return args[0].topk(2, *args[1:2]).indices.select(args[1], 1)


def negative_remainder(function, args, kwargs):
    """A remainder with the sign of the dividend."""
    import torch

    return torch.fmod(args[0], args[1])


def padding_of_zeros(function, args, kwargs):
    """A border of zeros where it was to be mirrored."""
    import torch

    return torch.constant_pad_nd(args[0], args[1])


def biased(function, args, kwargs):
    """A variance divided by n, not n - 1."""
    import torch

    kwargs["correction"] = 0
    return torch.ops.aten.var.correction(args[0], None, **kwargs)


def large_angles_reduced_badly(function, args, kwargs):
    """Angles above 1,000 reduced by too short a 2 pi."""
    import torch

    angle = args[0]
    return torch.where(angle.abs() > 1000, function(torch.fmod(angle, 6.28125)), function(angle))


def mask_shifted(function, args, kwargs):
    """#126919: a mask that is read one element further."""
    return function(args[0], args[1].flatten().roll(1).reshape(args[1].shape), *args[2:], **kwargs)


ERRORS = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and not name.startswith("_") and name not in ("wrong_in", "annotations")
}
