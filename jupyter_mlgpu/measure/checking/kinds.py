"""How an ATen operation is compared with its reference: by its tags, its schema and its name."""

from __future__ import annotations

import enum
from typing import Any


class Kind(enum.Enum):
    """How the result of an operation is compared."""

    #: Gives no values, such as `empty`.
    VALUELESS = enum.auto()
    #: Draws random numbers: what it gave is taken as given.
    RANDOM = enum.auto()
    #: Its result is not unique, or its values are stored in a way of the device's own.
    NOT_COMPARABLE = enum.auto()
    #: Moves, selects or compares values: nothing is rounded.
    EXACT = enum.auto()
    #: Selects values and returns their places, of which several may be right.
    PLACES = enum.auto()
    #: A sum of products, linear in each of its tensors.
    LINEAR = enum.auto()
    #: A product of many factors.
    PRODUCT = enum.auto()
    #: Each element of the result depends on one element of each tensor.
    ELEMENTWISE = enum.auto()
    #: Distances, which some kernels compute as a difference of products.
    DISTANCE = enum.auto()
    #: Scaled dot-product attention, whose kernels have results of their own beside the first.
    ATTENTION = enum.auto()
    #: Everything else, such as a softmax or a normalisation.
    GENERAL = enum.auto()


_VALUELESS = frozenset(
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize resize_as set "
    "is_pinned is_same_size _has_compatible_shallow_copy_type _nested_tensor_size record_stream "
    "_assert_async sym_size sym_stride sym_numel sym_storage_offset is_contiguous is_strides_like_format "
    "is_non_overlapping_and_dense dim numel size stride storage_offset prim_layout _version "
    "_backward_hooks data retain_grad".split()
)
_NOT_COMPARABLE = frozenset(
    "as_strided as_strided_scatter _linalg_eigh linalg_eig _linalg_eigvals linalg_eigvals geqrf linalg_qr "
    "_linalg_svd linalg_lu linalg_lu_factor_ex linalg_ldl_factor_ex _linalg_slogdet linalg_lstsq ormqr "
    "linalg_householder_product lu_unpack _cudnn_rnn _cudnn_rnn_backward _thnn_fused_lstm_cell _lstm_mps "
    "lstm_mps_backward mkldnn_rnn_layer mkldnn_rnn_layer_backward _cudnn_init_dropout_state "
    "_cudnn_rnn_flatten_weight miopen_rnn _cslt_sparse_mm".split()
)
#: Factories whose values are the same on each device. Others with a formula are elementwise.
_EXACT = frozenset(
    "zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full scalar_tensor eye fill zero "
    "clone copy _to_copy lift_fresh lift_fresh_copy alias detach contiguous _local_scalar_dense cat stack "
    "hstack vstack concat index index_select gather where masked_fill masked_select masked_scatter scatter "
    "index_copy index_fill slice_scatter select_scatter diagonal_scatter select_backward slice_backward "
    "diagonal_backward unfold_backward take put flip roll repeat repeat_interleave rot90 constant_pad_nd "
    "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
    "replication_pad3d pixel_shuffle pixel_unshuffle channel_shuffle im2col tril triu tril_indices "
    "triu_indices diag_embed relu neg abs sign sgn signbit clamp clamp_min clamp_max hardtanh threshold "
    "threshold_backward maximum minimum fmax fmin amax amin aminmax floor ceil trunc eq ne lt le gt ge "
    "logical_not logical_and logical_or logical_xor isnan isinf isfinite isposinf isneginf bitwise_not "
    "bitwise_and bitwise_or bitwise_xor any all nonzero argwhere embedding one_hot _pack_padded_sequence "
    "max_unpool2d max_unpool3d upsample_nearest1d upsample_nearest2d upsample_nearest3d "
    "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d view_as_real "
    "view_as_complex complex real imag conj_physical _conj_physical resolve_conj resolve_neg equal "
    "searchsorted bucketize bincount unique_consecutive _unique2 unique_dim isin nan_to_num copysign "
    "hardtanh_backward _foreach_neg _foreach_abs _foreach_copy _foreach_zero _foreach_maximum "
    "_foreach_minimum _foreach_clamp_max _foreach_clamp_min _foreach_sign _foreach_max fmod "
    "count_nonzero heaviside frac ldexp split_with_sizes_copy _reshape_alias _reshape_copy "
    "narrow_copy t_copy view_copy permute_copy expand_copy max_pool2d mkldnn_max_pool2d "
    "block_diag cartesian_prod _chunk_cat _unsafe_view".split()
)
_PLACES = frozenset(
    "sort topk max min argmax argmin argsort median nanmedian kthvalue mode cummax cummin _cummax_helper "
    "_cummin_helper max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
    "adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d".split()
)
_LINEAR = frozenset(
    "sum nansum mean cumsum trace mm bmm addmm baddbmm addbmm mv addmv dot vdot addr linear convolution "
    "convolution_backward _convolution mkldnn_convolution cudnn_convolution mps_convolution "
    "convolution_overrideable _slow_conv2d_forward slow_conv3d slow_conv_transpose2d slow_conv_transpose3d "
    "_conv_depthwise2d conv_depthwise3d thnn_conv2d index_add scatter_add index_put _index_put_impl "
    "_unsafe_index_put embedding_dense_backward _embedding_bag _embedding_bag_forward_only avg_pool1d "
    "avg_pool2d avg_pool3d avg_pool2d_backward avg_pool3d_backward adaptive_avg_pool1d adaptive_avg_pool2d "
    "_adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward "
    "max_pool2d_with_indices_backward max_pool3d_with_indices_backward adaptive_max_pool2d_backward "
    "adaptive_max_pool3d_backward upsample_linear1d upsample_bilinear2d upsample_trilinear3d "
    "upsample_bicubic2d _upsample_bilinear2d_aa upsample_linear1d_backward upsample_bilinear2d_backward "
    "upsample_trilinear3d_backward upsample_bicubic2d_backward upsample_nearest1d_backward "
    "upsample_nearest2d_backward upsample_nearest3d_backward _upsample_nearest_exact1d_backward "
    "_upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward col2im nll_loss_forward "
    "nll_loss_backward nll_loss2d_forward nll_loss2d_backward reflection_pad1d_backward "
    "reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward "
    "replication_pad2d_backward replication_pad3d_backward mkldnn_linear _trilinear mkldnn_convolution_relu "
    "_weight_int8pack_mm segment_reduce".split()
)
_PRODUCT = frozenset("prod cumprod".split())
_DISTANCE = frozenset("_euclidean_dist _cdist_forward".split())
_ATTENTION = frozenset(
    "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_fused_attention_overrideable _scaled_dot_product_attention_math_for_mps "
    "_scaled_dot_product_flash_attention_backward _scaled_dot_product_flash_attention_for_cpu_backward "
    "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward".split()
)
#: Elementwise without PyTorch's tag.
_ELEMENTWISE = frozenset(
    "arange linspace logspace polar lerp addcmul addcdiv _fused_adam _fused_adamw _fused_sgd _fused_adagrad "
    "gelu_backward sigmoid_backward tanh_backward silu_backward elu_backward leaky_relu_backward "
    "hardswish_backward mish_backward softplus_backward log_sigmoid_backward hardsigmoid_backward "
    "logit_backward log_sigmoid_forward".split()
)


def base_name(operation: Any) -> str:
    """Return an operation's name without namespace, overload, and the underscore of one in place."""
    name: str = operation._schema.name.partition("::")[2]
    return name if name.endswith("__") else name.removesuffix("_")


def full_name(operation: Any) -> str:
    """Return an operation's name as `aten.cumsum`, or `aten.add_` in place."""
    return str(operation._schema.name.replace("::", "."))


_BY_NAME = (
    (_VALUELESS, Kind.VALUELESS),
    (_NOT_COMPARABLE, Kind.NOT_COMPARABLE),
    (_ATTENTION, Kind.ATTENTION),
    (_EXACT, Kind.EXACT),
    (_PLACES, Kind.PLACES),
    (_LINEAR, Kind.LINEAR),
    (_PRODUCT, Kind.PRODUCT),
    (_DISTANCE, Kind.DISTANCE),
    (_ELEMENTWISE, Kind.ELEMENTWISE),
)


def kind_of(operation: Any) -> Kind:
    """Return how the result of an operation is compared."""
    import torch

    name = base_name(operation)
    namespace = operation._schema.name.partition("::")[0]
    if namespace != "aten":  # the profiler's mark parts of a run, as optimizers do
        return Kind.VALUELESS if namespace == "profiler" else Kind.NOT_COMPARABLE
    if name in _ATTENTION:  # tagged as random, whatever its dropout
        return Kind.ATTENTION
    if torch.Tag.nondeterministic_seeded in operation.tags:
        return Kind.RANDOM
    for names, kind in _BY_NAME:
        if name in names:
            return kind
    if operation.is_view:
        return Kind.EXACT
    if torch.Tag.pointwise in operation.tags:
        return Kind.ELEMENTWISE
    if name.startswith("_foreach_") and name != "_foreach_norm":
        return Kind.ELEMENTWISE
    return Kind.GENERAL
