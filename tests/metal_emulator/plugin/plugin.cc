// The two entries that TensorFlow calls after SE_InitPlugin: kernels, and the optimiser of graphs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulator.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/tf_status.h"

extern "C" void TF_InitKernel() {
  const int hidden = metal_emulator::hide_cuda_kernels();
  if (hidden != HIDDEN_KERNELS) {
    std::fprintf(stderr,
                 "metal_emulator: %d kernels of CUDA were found where %d were expected. This TensorFlow is not the one "
                 "that the emulator was made for; see tests/metal_emulator/README.md.\n",
                 hidden, HIDDEN_KERNELS);
    std::exit(3);
  }
  TF_Status* status = TF_NewStatus();
  metal_emulator::register_kernels(status);
  TF_DeleteStatus(status);
}

// tensorflow-metal 1.2.0 turns two of TensorFlow's own optimisers off (read from its TF_InitGraph) and brings its own,
// which fuses operations. Here that one hands each graph back as it came.
extern "C" void TF_InitGraph(TP_OptimizerRegistrationParams* parameters, TF_Status* status) {
  parameters->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  parameters->device_type = "GPU";
  parameters->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  parameters->optimizer_configs->layout_optimizer = TF_TriState_Off;
  parameters->optimizer_configs->remapping = TF_TriState_Off;
  parameters->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  parameters->optimizer->create_func = [] { return static_cast<void*>(new char); };
  parameters->optimizer->destroy_func = [](void* optimizer) { delete static_cast<char*>(optimizer); };
  parameters->optimizer->optimize_func = [](void*, const TF_Buffer* graph, const TF_GrapplerItem*, TF_Buffer* same,
                                            TF_Status* done) {
    void* copy = std::malloc(graph->length);
    std::memcpy(copy, graph->data, graph->length);
    same->data = copy;
    same->length = graph->length;
    same->data_deallocator = [](void* data, size_t) { std::free(data); };
    TF_SetStatus(done, TF_OK, "");
  };
  TF_SetStatus(status, TF_OK, "");
}
