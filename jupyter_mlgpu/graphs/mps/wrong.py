"""Known faults of operations that have a kernel on MPS, by PyTorch's issues.

A row's versions are those in which people saw it, up to the last release before its fix. Without an end,
the issue was open, or its fix in no release, when 2.15 came out. Where an issue does not name the release
with its fix, it is the first whose branch was cut after the fix was merged: 2.9 on 8 September 2025, 2.12 in
the week of 13 April 2026, 2.13 in that of 8 June, 2.14 in that of 10 August. Faults of Apple's framework can
also end with a version of macOS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.graphs.mps.spans import holds
from jupyter_mlgpu.record.sentence import Sentence, say

Effect = Literal["wrong", "ends", "raises", "cpu"]
_HALF = frozenset({"float16", "bfloat16"})
_ATTENTION = ("_scaled_dot_product_attention_math_for_mps",)
_CONVOLUTION = ("_mps_convolution",)


@dataclass(frozen=True)
class Wrong:
    """Operations that are wrong under a condition.

    `operations` have no overload. Empty `dtypes` stand for all, and `ranks` are the numbers of dimensions of
    which one must be there. `usual` says that ordinary programs meet the condition; others need, for example,
    2**31 elements. `effect` is a wrong result, or that Apple's framework ends the process, or an error, or
    that the kernel itself computes on the CPU.
    """

    issue: int
    operations: tuple[str, ...]
    versions: str
    when: Sentence
    dtypes: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    usual: bool = False
    effect: Effect = "wrong"

    def meets(self, operation: str, dtypes: frozenset[str], ranks: frozenset[int], version: str) -> bool:
        """Return True unless name, version, types or ranks rule the row out."""
        return (
            operation.partition(".")[0] in self.operations
            and holds(self.versions, version)
            and (not self.dtypes or not self.dtypes.isdisjoint(dtypes))
            and (not self.ranks or not self.ranks.isdisjoint(ranks))
        )


ROWS = (
    Wrong(
        190064,
        ("adaptive_max_pool2d",),
        "2.8-2.13",
        say("the input's height or width is no multiple of the result's"),
        usual=True,
    ),
    Wrong(
        # The library of 2.13 is the first with kernels of PyTorch's own for this, and they are right.
        195910,
        _ATTENTION,
        "2.8-2.12",
        say("`is_causal=True` in 16 bits: a position then sees up to three later ones"),
        dtypes=_HALF,
        usual=True,
    ),
    Wrong(174861, _ATTENTION, "2.8-2.10", say("there are 1,024 keys or more and few queries")),
    Wrong(
        184180,
        _ATTENTION,
        "2.8-2.12",
        say("there are 8 queries or fewer and the mask is the same for all heads"),
    ),
    Wrong(176767, _ATTENTION, "2.10-2.11", say("the values have another size of head than the queries")),
    Wrong(
        163597,
        _ATTENTION,
        "2.8-2.8",
        say("there are 8 queries or fewer and the query is a transposed view"),
    ),
    Wrong(
        193487,
        ("mm", "addmm", "linear"),
        "2.8-2.13",
        say("more than 32,768 products are summed, on an M1 or M2"),
    ),
    Wrong(
        195163,
        ("bmm", "baddbmm", "addbmm"),
        "2.8-",
        say("32,767 products or more are summed, on an M1 or M2"),
    ),
    Wrong(187521, ("baddbmm",), "2.8-2.13", say("`beta` is 0 and the input has NaN, as memory may have")),
    Wrong(
        197636,
        ("bmm",),
        "2.8-",
        say("the result has more than 2**32 elements: with an input that is not contiguous, and in training"),
    ),
    Wrong(
        # Seen in 2.11. The library of 2.13 is the first with the function that goes round it.
        180776,
        ("linear",),
        "2.11-2.12",
        say("in 16 bits, with three dimensions or more and no bias, on an M5: two equal calls differ"),
        dtypes=_HALF,
        ranks=frozenset(range(3, 17)),
    ),
    Wrong(
        181936,
        ("linear_backward",),
        "2.11-2.12",
        say("in 16 bits, with three dimensions or more, on an M5: two equal calls differ"),
        dtypes=_HALF,
        ranks=frozenset(range(3, 17)),
    ),
    Wrong(
        189495,
        ("linear",),
        "2.12-2.13",
        say("there is a bias, and the third dimension from the end is larger than 65,536"),
        ranks=frozenset(range(3, 17)),
    ),
    Wrong(
        188438,
        ("linear",),
        "2.13-2.13",
        say("there is a bias and the last dimension but one is 1, on an M1 with macOS 26"),
        ranks=frozenset(range(3, 17)),
    ),
    Wrong(
        192934,
        ("linear",),
        "2.13-",
        say("there is a bias and the input has three dimensions, on GitHub's virtual M1 with macOS 26"),
        dtypes=frozenset({"float32"}),
        ranks=frozenset({3}),
    ),
    Wrong(
        190056,
        ("_lstm_mps", "lstm_mps_backward"),
        "2.8-2.13",
        say("an LSTM of two layers or more is trained with dropout: its gradients ignore it"),
    ),
    Wrong(
        185351,
        ("_lstm_mps",),
        "2.8-2.12",
        say("an LSTM of two layers or more has dropout: each call drops the same values"),
    ),
    Wrong(
        183825,
        ("native_layer_norm_backward",),
        "2.8-2.12",
        say("weight and bias need a gradient and the input does not"),
    ),
    Wrong(
        178497,
        ("sum", "mean", "nansum", "count_nonzero", "trace"),
        "2.8-2.12",
        say("it is called thousands of times in quick succession (seldom)"),
    ),
    Wrong(
        179415,
        ("sum",),
        "2.8-2.12",
        say("the sum is asked for in 8 bits and does not fit"),
        dtypes=frozenset({"uint8", "int8"}),
    ),
    Wrong(
        154881,
        ("cumsum", "cumprod"),
        "2.8-2.12",
        say("more than four dimensions begin with the one that is summed"),
        ranks=frozenset(range(5, 17)),
        effect="ends",
    ),
    Wrong(
        197796,
        ("linear",),
        "2.13-2.13",
        say("the weight is a transposed view, on macOS 27"),
        dtypes=frozenset({"bfloat16"}),
        ranks=frozenset({3}),
        effect="ends",
    ),
    Wrong(
        197235,
        ("var", "std", "var_mean", "std_mean"),
        "2.8-2.14",
        say("the tensor is large, on macOS 27 (seldom)"),
    ),
    Wrong(
        183885,
        ("sort", "argsort"),
        "2.8-2.12",
        say("4 million elements or more are sorted along another dimension than the last"),
    ),
    Wrong(
        188756,
        ("index_select", "embedding"),
        "2.8-2.13",
        say("the tensor that is read has more than 2**31 elements"),
    ),
    Wrong(
        183419,
        ("isfinite", "isinf"),
        "2.8-2.12",
        say("the tensor is a slice of the columns of a very large one: it writes into other tensors"),
    ),
    Wrong(
        196112,
        ("_linalg_svd",),
        "2.14-2.14",
        say("the matrix is singular or nearly so: small singular values, and U is not orthogonal"),
    ),
    Wrong(
        195937,
        ("_linalg_svd", "linalg_lstsq"),
        "2.14-2.14",
        say("a batch of matrices has 8,192 elements or more, in 2.14.0"),
        effect="raises",
    ),
    Wrong(
        196113,
        ("_linalg_svd", "linalg_lstsq"),
        "2.14-",
        say("there is one matrix, or a batch of fewer than 8,192 elements"),
        effect="cpu",
    ),
    Wrong(
        196113,
        ("linalg_lstsq",),
        "2.14-2.14",
        say("there is a batch of systems with more unknowns than equations"),
        dtypes=frozenset({"complex64"}),
    ),
    Wrong(
        189961,
        ("copy_", "_copy_from"),
        "2.8-2.13",
        say("a view on the GPU is copied into a view on the CPU with the same gaps"),
    ),
    Wrong(
        192212,
        (*_CONVOLUTION, "mps_convolution_backward"),
        "2.8-2.13",
        say("the weight is not contiguous, such as a slice of a larger one, on macOS 15 or later"),
        ranks=frozenset({4}),
    ),
    Wrong(
        180984,
        _CONVOLUTION,
        "2.8-2.11",
        say("the input is a slice of the channels of a `channels_last` tensor"),
    ),
    Wrong(
        188335,
        _CONVOLUTION,
        "2.8-2.13",
        say("`groups` is the number of input channels and the kernel is as high as the input"),
        dtypes=frozenset({"float32"}),
        ranks=frozenset({4}),
    ),
    Wrong(169342, _CONVOLUTION, "2.9-", say("the input is a part made by `chunk`, on an M5")),
    Wrong(
        197114,
        _CONVOLUTION,
        "2.14-",
        say("in three dimensions and not `channels_last_3d`, on macOS 26.2 (not on 26.3)"),
        ranks=frozenset({5}),
    ),
    Wrong(
        96225,
        ("mps_convolution_backward",),
        "2.8-",
        say("a batch has 65,536 samples or more"),
    ),
)


def rows(operation: str, dtypes: frozenset[str], ranks: frozenset[int], version: str) -> list[Wrong]:
    """Return what is known to be wrong of an operation and cannot be ruled out, the usual first."""
    found = [row for row in ROWS if row.meets(operation, dtypes, ranks, version)]
    return sorted(found, key=lambda row: not row.usual)
