"""Operations that MPS makes of others, and the others that decide whether they run there.

An operation that is composite in native_functions.yaml is made of others, which may be missing. `CALLS` names
those that decide. For the linear algebra they were seen in a profile of PyTorch 2.13 on a CPU; the others
choose by device, in the files of aten/src/ATen/native that are named beside them. Then the examples that
PyTorch 2.13 is tested with, 2,418 calls, were run with each composite operation opened: `frexp` and the three
below it were all that hid an operation which some version lacks.
"""

from __future__ import annotations

_SVD, _EIGH, _LU = "_linalg_svd", "_linalg_eigh", "linalg_lu_factor_ex"
_ATTENTION = "_scaled_dot_product_attention_math_for_mps"
_CONVOLUTION = ("_mps_convolution", "_mps_convolution_transpose")
_LSTM = ("_lstm_mps", "lstm_mps_backward")

#: The operations that decide, by the composite one. Names without an overload hold for each of it.
CALLS: dict[str, tuple[str, ...]] = {
    # Convolution.cpp
    "convolution": _CONVOLUTION,
    "_convolution": _CONVOLUTION,
    "convolution_overrideable": _CONVOLUTION,
    "convolution_backward": ("mps_convolution_backward", "mps_convolution_transpose_backward"),
    # RNN.cpp; GRU and the plain RNN are made of `linear` and elementwise operations on every device.
    "lstm.input": _LSTM,
    # transformers/attention.cpp
    "scaled_dot_product_attention": (_ATTENTION,),
    # LossCTC.cpp
    "ctc_loss": ("_ctc_loss", "_ctc_loss_backward"),
    "linalg_cholesky": ("linalg_cholesky_ex",),
    "linalg_cond": (_SVD,),
    "linalg_det": ("_linalg_det",),
    "linalg_eigh": (_EIGH,),
    "linalg_eigvals": ("linalg_eig",),
    "linalg_eigvalsh": (_EIGH,),
    "linalg_inv": ("linalg_inv_ex",),
    "linalg_ldl_factor": ("linalg_ldl_factor_ex",),
    "linalg_lstsq": ("linalg_lstsq.out",),
    "linalg_lu_factor": (_LU,),
    "linalg_matrix_rank": (_SVD,),
    "linalg_pinv": ("linalg_svd",),
    "linalg_slogdet": ("_linalg_slogdet",),
    "linalg_solve": ("_linalg_solve_ex",),
    "linalg_solve_ex": ("_linalg_solve_ex",),
    "linalg_svd": (_SVD,),
    "linalg_svdvals": (_SVD,),
    "linalg_tensorinv": ("linalg_inv_ex",),
    "linalg_tensorsolve": ("_linalg_solve_ex",),
    "cholesky_solve": ("_cholesky_solve_helper",),
    "logdet": ("_linalg_slogdet",),
    "logspace": ("logspace.out",),
    "mode.values": ("mode",),
    "frexp.Tensor": ("frexp.Tensor_out",),
    "kthvalue": ("kthvalue.values",),
    "logcumsumexp": ("_logcumsumexp",),
    "put": ("put_",),
    "svd": ("linalg_svd",),
}

#: Operations that only a CPU has, as a trace made there records them, and those that MPS runs in their place.
INSTEAD: dict[str, tuple[str, ...]] = {
    "mkldnn_convolution": _CONVOLUTION,
    "mkldnn_rnn_layer": _LSTM,
    "mkldnn_rnn_layer_backward": _LSTM,
    "_scaled_dot_product_flash_attention_for_cpu": (_ATTENTION,),
    # Training on MPS takes the attention that is made of products and a softmax.
    "_scaled_dot_product_flash_attention_for_cpu_backward": ("bmm", "_softmax_backward_data"),
    # PyTorch's modules for attention take these fast paths on `cpu` and `cuda` only.
    "_native_multi_head_attention": ("linear", _ATTENTION),
    "_transformer_encoder_layer_fwd": ("linear", _ATTENTION, "native_layer_norm"),
}


def calls(operation: str) -> tuple[str, ...]:
    """Return the operations that decide over one, which may have an overload; empty if none are known."""
    base = operation.partition(".")[0]
    for name in (operation, base):
        found = CALLS.get(name) or INSTEAD.get(name)
        if found:
            return found
    return ()
