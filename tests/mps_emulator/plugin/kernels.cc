// The operations of the device: a few that deal with its memory, and all others by the CPU's kernels.

#include "emulator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <cstring>

namespace mps_emulator {
namespace {

const c10::DispatchKeySet MPS(c10::DispatchKey::MPS);

// Returns a CPU's tensor over the same memory, which `tensor` keeps alive.
at::Tensor on_host(const at::Tensor& tensor) {
  if (!tensor.is_mps()) return tensor;
  at::Tensor seen = at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(c10::kCPU).requires_grad(false));
  seen._set_conj(tensor.is_conj());
  seen._set_neg(tensor.is_neg());
  return seen;
}

c10::ScalarType supported(c10::ScalarType type) {
  TORCH_CHECK_TYPE(
      type != c10::kDouble,
      "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
      "Please use float32 instead.");
  return type;
}

at::Tensor empty(
    at::IntArrayRef size, std::optional<c10::ScalarType> type, std::optional<c10::Layout>, std::optional<c10::Device>,
    std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(size, allocator(), MPS, supported(c10::dtype_or_default(type)), format);
}

at::Tensor empty_strided(
    at::IntArrayRef size, at::IntArrayRef stride, std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
    std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, allocator(), MPS, supported(c10::dtype_or_default(type)));
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size, std::optional<c10::MemoryFormat> format) {
  auto* tensor = self.unsafeGetTensorImpl();
  const auto offset = static_cast<size_t>(tensor->storage_offset());
  const size_t bytes = at::detail::computeStorageNbytesContiguous(size, tensor->itemsize(), offset);
  const c10::Storage& storage = tensor->unsafe_storage();
  if (bytes > storage.nbytes()) {
    c10::DataPtr larger = allocator()->allocate(bytes);
    if (storage.nbytes() > 0) std::memcpy(larger.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(larger));
    storage.set_nbytes(bytes);
  }
  if (tensor->sizes() != size) tensor->set_sizes_contiguous(size);
  if (format.has_value()) tensor->empty_tensor_restride(*format);
  return self;
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  {
    const Kernel kernel;
    on_host(to).copy_(on_host(from));
  }
  // Unless it is asked not to, PyTorch waits for a copy between the host and the device.
  if (!Kernel::runs() && !non_blocking && (from.is_cpu() || to.is_cpu())) wait_until(done_at());
  return to;
}

// The CPU's fallback gives an operation's results back with it.
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) resize(to, from.sizes(), std::nullopt);
  on_host(to).copy_(from);
  return to;
}

at::Scalar item(const at::Tensor& self) {
  if (!Kernel::runs()) {
    { const Kernel copies_one_number; }
    wait_until(done_at());
  }
  return at::_local_scalar_dense(on_host(self));
}

bool is_optional_generator(const c10::Type& type) {
  return type.kind() == c10::TypeKind::OptionalType &&
      type.expectRef<c10::OptionalType>().getElementType()->kind() == c10::TypeKind::GeneratorType;
}

// The CPU's kernels take generators of the CPU only, and those of the device no such one.
void use_host_generators(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
  const auto& arguments = schema.arguments();
  const size_t first = stack.size() - arguments.size();
  for (size_t index = 0; index < arguments.size(); ++index) {
    c10::IValue& value = stack[first + index];
    if (value.isGenerator()) {
      const at::Generator generator = value.toGenerator();
      TORCH_CHECK(
          generator.device().is_mps(), "Expected a 'mps' device type for generator but found '",
          generator.device().type(), "'");
      value = host_generator(generator);
    } else if (value.isNone() && is_optional_generator(*arguments[index].type())) {
      value = host_generator();
    }
  }
}

// Raises PyTorch's error where a tensor lies elsewhere. A single number may, and so may indices.
void refuse_other_devices(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  if (schema.name().find("index") != std::string::npos) return;
  const auto refuse = [](const at::Tensor& tensor) {
    TORCH_CHECK(
        !tensor.defined() || tensor.is_mps() || tensor.dim() == 0,
        "Expected all tensors to be on the same device, but found at least two devices, mps:0 and ",
        tensor.device(), "!");
  };
  for (const c10::IValue& value : torch::jit::last(stack, schema.arguments().size())) {
    if (value.isTensor()) {
      refuse(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& one : value.toTensorVector()) refuse(one);
    }
  }
}

void on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  refuse_other_devices(operation.schema(), *stack);
  use_host_generators(operation.schema(), *stack);
  const Kernel kernel;
  at::native::cpu_fallback(operation, stack);
}

void convolution(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const auto inputs = torch::jit::last(*stack, operation.schema().arguments().size());
  const at::Tensor input = inputs[0].toTensor(), weight = inputs[1].toTensor();
  TORCH_CHECK(
      input.options().type_equal(weight.options()), "Input type (", input.toString(), ") and weight type (",
      weight.toString(), ") should be the same");
  on_cpu(operation, stack);
}

at::Tensor attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const std::optional<at::Tensor>& mask,
    double dropout, bool causal, std::optional<double> scale, bool grouped) {
  return std::get<0>(at::_scaled_dot_product_attention_math(
      query, key, value, mask, dropout, causal, std::nullopt, scale, grouped));
}

TORCH_LIBRARY_IMPL(_, MPS, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize);
  library.impl("copy_", &copy);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &item);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("set_.source_Storage", static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  library.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  library.impl("set_.source_Tensor", &at::native::set_tensor_);
  library.impl("set_", &at::native::set_cpu_);
  // Their code for all devices chooses kernels that only a build for a Mac has.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  library.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
  library.impl("scaled_dot_product_attention", &attention);
}

TORCH_LIBRARY_IMPL(aten, AutogradMPS, library) { library.impl("scaled_dot_product_attention", &attention); }

}  // namespace
}  // namespace mps_emulator
