// The kernels: tensorflow-metal's registrations, computed by TensorFlow's kernels for the CPU.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "emulator.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace metal_emulator {
namespace {

using namespace tensorflow;

// cuDNN's recurrent layers have no kernel for a CPU: placed as on a Mac, they give zeros of the right shapes.
class ZerosOfCudnnRnn : public OpKernel {
 public:
  explicit ZerosOfCudnnRnn(OpKernelConstruction* construction)
      : OpKernel(construction), backwards_(construction->def().op().find("Backprop") != std::string::npos) {
    std::string direction;
    OP_REQUIRES_OK(construction, construction->GetAttr("direction", &direction));
    directions_ = direction == "bidirectional" ? 2 : 1;
  }

  void Compute(OpKernelContext* context) override {
    const Tensor &input = context->input(0), &hidden = context->input(1), &cell = context->input(2);
    std::vector<TensorShape> shapes;
    if (backwards_) {
      shapes = {input.shape(), hidden.shape(), cell.shape(), context->input(3).shape()};
    } else {
      const TensorShape output({input.dim_size(0), input.dim_size(1), hidden.dim_size(2) * directions_});
      const TensorShape none({});
      shapes = {output, hidden.shape(), cell.NumElements() ? hidden.shape() : none, none, none};
    }
    for (int at = 0; at < context->num_outputs(); ++at) {
      Tensor* made = nullptr;
      OP_REQUIRES_OK(context, context->allocate_output(at, shapes[at], &made));
      memset(made->data(), 0, made->TotalBytes());
    }
  }

 private:
  bool backwards_;
  int directions_;
};

void* create(TF_OpKernelConstruction* opaque) {
  auto* construction = reinterpret_cast<OpKernelConstruction*>(opaque);
  if (construction->def().op().rfind("CudnnRNN", 0) == 0) {
    return static_cast<OpKernel*>(new ZerosOfCudnnRnn(construction));
  }
  std::shared_ptr<const NodeProperties> properties;
  absl::Status status = NodeProperties::CreateFromNodeDef(construction->def(), OpRegistry::Global(), &properties);
  OpKernel* kernel = nullptr;
  if (status.ok()) {
    auto* device = static_cast<DeviceBase*>(construction->device());
    status = CreateOpKernel(DeviceType(DEVICE_CPU), device, device->GetAllocator(AllocatorAttributes()),
                            construction->function_library(), construction->resource_manager(), properties,
                            construction->graph_def_version(), &kernel);
  }
  if (!status.ok()) construction->CtxFailure(status);
  return kernel;
}

void compute(void* kernel, TF_OpKernelContext* context) {
  static const int64_t cost = setting("METAL_EMULATOR_KERNEL_US", 0) * 1000;
  static_cast<OpKernel*>(kernel)->Compute(reinterpret_cast<OpKernelContext*>(context));
  occupy(cost);
}

void destroy(void* kernel) { delete static_cast<OpKernel*>(kernel); }

struct Constraint {
  const char* attribute;
  TF_DataType type;
};
struct Registration {
  const char* operation;
  std::vector<Constraint> constraints;
  std::vector<const char*> on_host;
};
const std::vector<Registration>& registrations() {
  static const auto* const rows = new std::vector<Registration>{
#include "registrations.inc"
  };
  return *rows;
}

// The one operation that the plug-in itself defines.
void define_fused_batch_matmul(TF_Status* status) {
  TF_OpDefinitionBuilder* operation = TF_NewOpDefinitionBuilder("_FusedBatchMatMulV2");
  for (const char* input : {"x: T", "y: T", "args: num_args * T"}) TF_OpDefinitionBuilderAddInput(operation, input);
  TF_OpDefinitionBuilderAddOutput(operation, "output: T");
  for (const char* attribute :
       {"T: {half, bfloat16, float} = DT_FLOAT", "adj_x: bool = false", "adj_y: bool = false",
        "is_filter_const: bool = false", "num_args: int >= 0", "fused_ops: list(string) = []"}) {
    TF_OpDefinitionBuilderAddAttr(operation, attribute);
  }
  TF_RegisterOpDefinition(operation, status);
}

}  // namespace

void register_kernels(TF_Status* status) {
  define_fused_batch_matmul(status);
  for (const Registration& row : registrations()) {
    TF_KernelBuilder* builder = TF_NewKernelBuilder(row.operation, "GPU", create, compute, destroy);
    for (const Constraint& one : row.constraints) {
      TF_KernelBuilder_TypeConstraint(builder, one.attribute, one.type, status);
    }
    for (const char* argument : row.on_host) TF_KernelBuilder_HostMemory(builder, argument);
    // A name of our own: the package's table does not hold the plug-in's.
    TF_RegisterKernelBuilder((std::string("Metal") + row.operation).c_str(), builder, status);
    if (TF_GetCode(status) != TF_OK) {
      std::fprintf(stderr, "metal_emulator: %s: %s\n", row.operation, TF_Message(status));
    }
  }
}

}  // namespace metal_emulator
