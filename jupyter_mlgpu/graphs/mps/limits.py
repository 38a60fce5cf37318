"""Number types, ranks and sizes that MPS's code refuses, each with the error text that says so.

The texts stand in `operations.json`, with the function that has them; a test holds each row to the versions
whose wheels have its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.graphs.mps.spans import holds
from jupyter_mlgpu.record.sentence import Sentence, say

_INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64", "bool"})
_COMPLEX = frozenset({"complex32", "complex64"})
_HALF = frozenset({"float16", "bfloat16"})


@dataclass(frozen=True)
class Refusal:
    """Number types, ranks or cases that some operations refuse with an error.

    `operations` have no overload and no final underscore; empty, they stand for all. A row with `dtypes` or
    `ranks` is met by a tensor of one of them, of both if it has both. A row with `when` depends on more than
    can be known beforehand.
    """

    text: str
    versions: str
    operations: tuple[str, ...] = ()
    dtypes: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    when: Sentence | None = None

    def meets(self, operation: str, dtypes: frozenset[str], ranks: frozenset[int], version: str) -> bool:
        """Return True unless name, version, types or ranks rule the row out."""
        return (
            (not self.operations or operation.partition(".")[0].rstrip("_") in self.operations)
            and holds(self.versions, version)
            and (not self.dtypes or not self.dtypes.isdisjoint(dtypes))
            and (not self.ranks or not self.ranks.isdisjoint(ranks))
        )


_FLOAT64 = "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
_NO_DTYPE = "to the MPS backend but it does not have support for that dtype."
_POOLING = (
    "Adaptive pool MPS: input sizes must be divisible by output sizes. Non-divisible input sizes are not "
    "implemented on MPS device yet. For now, "
    "you can manually transfer tensor to cpu in this case. Please refer to "
    "[this issue](https://github.com/pytorch/pytorch/issues/96056)"
)
ROWS = (
    Refusal(_FLOAT64 + "Please use float32 instead.", "2.8-", dtypes=frozenset({"float64"})),
    Refusal(_NO_DTYPE, "2.8-2.14", dtypes=frozenset({"float8_e4m3fn"})),  # pytorch#194074 added it
    Refusal(
        _NO_DTYPE,
        "2.8-",
        dtypes=frozenset({"complex128", "qint8", "quint8", "qint32", "quint4x2", "quint2x4"})
        | frozenset({"float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"}),
    ),
    Refusal("MPS supports tensors with dimensions <=", "2.8-", ranks=frozenset(range(17, 65))),
    Refusal("MPS device does not support linear for non-float inputs", "2.8-", ("linear",), _INTEGERS),
    Refusal("mps linear does not support complex types", "2.8-2.11", ("linear",), _COMPLEX),
    Refusal("MPS device does not support addmm for non-float input", "2.8-2.8", ("addmm",), _INTEGERS),
    Refusal(
        "MPS device does not support addbmm or baddbmm for non-float inputs",
        "2.8-2.10",
        ("addbmm", "baddbmm"),
        _INTEGERS,
    ),
    Refusal("MPS device does not support addr for non-float input", "2.8-", ("addr",), _INTEGERS),
    Refusal("linalg_inv: not supported for complex types yet!", "2.8-", ("linalg_inv_ex",), _COMPLEX),
    Refusal(
        "linalg.lu_factor(): MPS doesn't support complex types.",
        "2.8-2.14",
        ("linalg_lu_factor", "linalg_lu_factor_ex"),
        _COMPLEX,
    ),
    Refusal("linalg.lu_solve(): MPS only supports float32.", "2.14-2.14", ("linalg_lu_solve",), _COMPLEX),
    Refusal("linalg_qr: MPS currently supports float32 only", "2.12-2.13", ("linalg_qr",), _COMPLEX),
    Refusal("geqrf: MPS currently supports float32 only", "2.14-", ("geqrf",), _COMPLEX),
    Refusal("cholesky_inverse: MPS only supports float type!", "2.11-", ("cholesky_inverse",), _COMPLEX),
    Refusal(
        "linalg.solve.triangular(); Not supported for complex yet!",
        "2.8-2.9",
        ("linalg_solve_triangular", "triangular_solve"),
        _COMPLEX,
    ),
    Refusal(
        "linalg.solve.triangular(); Only float is supported!",
        "2.10-2.14",
        ("linalg_solve_triangular", "triangular_solve"),
        _COMPLEX,
    ),
    Refusal(
        "norm ops are not supported for complex yet",
        "2.8-2.11",
        ("norm", "linalg_vector_norm"),
        _COMPLEX,
    ),
    Refusal("repeat(): Not supported for complex yet!", "2.8-2.11", ("repeat",), _COMPLEX),
    Refusal("scatter(): Yet not supported for complex", "2.8-2.11", ("scatter", "scatter_add"), _COMPLEX),
    Refusal("index_fill_(): Complex types are yet not supported", "2.9-2.11", ("index_fill",), _COMPLEX),
    Refusal("gather(): Yet not supported for complex", "2.8-2.11", ("gather",), _COMPLEX),
    Refusal("MPS: nonzero op is not supported for complex datatypes", "2.8-2.11", ("nonzero",), _COMPLEX),
    Refusal("nansum on MPS does not support complex inputs", "2.8-2.12", ("nansum",), _COMPLEX),
    Refusal(
        "index_reduce for MPS does not support torch.long dtype",
        "2.12-",
        ("index_reduce",),
        frozenset({"int64"}),
    ),
    Refusal("index_reduce for MPS does not support torch.cfloat dtype", "2.12-", ("index_reduce",), _COMPLEX),
    Refusal(
        "logspace is not implemented for integral dtypes on MPS",
        "2.15-",
        ("logspace",),
        _INTEGERS,
    ),
    Refusal("addcmul_mps not implemented for 'Bool'", "2.15-", ("addcmul",), frozenset({"bool"})),
    Refusal(
        "ConvTranspose 3D with BF16 or FP16 types is not supported on MPS",
        "2.8-",
        ("_mps_convolution_transpose",),
        _HALF,
        frozenset({5}),
    ),
    Refusal(
        "LSTM with projections is not currently supported with MPS.",
        "2.8-",
        ("_lstm_mps",),
        when=say("`proj_size` is given"),
    ),
    Refusal(
        _POOLING,
        "2.8-",
        ("adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
        when=say("the input's height or width is no multiple of the result's"),
    ),
    Refusal(
        "Output channels > 65536 not supported at the MPS device.",
        "2.8-",
        ("_mps_convolution",),
        when=say("a dimension of the result is larger than 65,536"),
    ),
    Refusal(
        "MPS: Unsupported Bicubic interpolation",
        "2.8-2.10",
        ("grid_sampler_2d",),
        when=say("the interpolation is bicubic"),
    ),
    Refusal(
        "MPS: Unsupported Border padding mode",
        "2.8-2.10",
        ("grid_sampler_2d",),
        when=say("the padding is `border`"),
    ),
    Refusal(
        "Scatter reduce mean mode not yet supported in MPS",
        "2.8-2.12",
        ("scatter_reduce",),
        when=say("the reduction is `mean`"),
    ),
    Refusal(
        "grid_sampler_3d backward on MPS only supports bilinear and nearest interpolation",
        "2.13-",
        ("grid_sampler_3d_backward",),
        when=say("the interpolation is bicubic"),
    ),
    Refusal(
        "scatter_reduce(amin/amax) on int64 requires macOS 15 or newer",
        "2.13-2.14",
        ("scatter_reduce",),
        frozenset({"int64"}),
        when=say("the reduction is `amin` or `amax`, before macOS 15"),
    ),
    Refusal(
        "linalg.matrix_exp on MPS requires macOS 15.0 or newer",
        "2.14-2.15",
        ("linalg_matrix_exp",),
        when=say("macOS is older than 15"),
    ),
    Refusal(
        "On-going issue on MPSGraph topk when ndims() - axis > 4, see issue #154890",
        "2.8-2.12",
        ("topk", "kthvalue"),
        ranks=frozenset(range(5, 17)),
        when=say("more than four dimensions begin with the one that is sorted"),
    ),
    Refusal(
        "MPS FFT only supports transforming up to 4 dimensions, but got",
        "2.14-",
        ("_fft_c2c", "_fft_r2c", "_fft_c2r"),
        ranks=frozenset(range(5, 17)),
        when=say("more than four dimensions are transformed"),
    ),
    Refusal(
        "FFT operations are only supported on MacOS 14+",
        "2.8-2.8",
        ("_fft_c2c", "_fft_r2c", "_fft_c2r"),
        when=say("macOS is older than 14"),
    ),
    Refusal(
        "op with int64 input. Support has been added in macOS 13.3",
        "2.8-2.8",
        ("cumsum", "cumprod"),
        frozenset({"int64"}),
        when=say("macOS is older than 13.3"),
    ),
    Refusal(
        "MPS bfloat16 type is supported on MacOS 14.0 or newer.",
        "2.8-2.8",
        dtypes=frozenset({"bfloat16"}),
        when=say("macOS is older than 14"),
    ),
    Refusal(
        "MPS complex types are only supported on MacOS 14.0 or newer.",
        "2.8-2.8",
        dtypes=_COMPLEX,
        when=say("macOS is older than 14"),
    ),
)


def rows(operation: str, dtypes: frozenset[str], ranks: frozenset[int], version: str) -> list[Refusal]:
    """Return what an operation refuses and cannot be ruled out, the certain first."""
    found = [row for row in ROWS if row.meets(operation, dtypes, ranks, version)]
    return sorted(found, key=lambda row: row.when is not None)
