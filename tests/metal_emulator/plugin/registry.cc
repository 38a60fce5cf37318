// The Linux wheel `tensorflow` is built for CUDA, and registers kernels for a GPU that a Mac's does not have. They are
// taken out of TensorFlow's registry, all but those of a build for CPUs alone (kept_kernels.txt).
//
// The registry is private: the two structures mirror its layout in op_kernel.cc of TensorFlow 2.19. With another
// layout the number of kernels taken out would be another one, which the plug-in checks before it goes on.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {
void* GlobalKernelRegistry();
}

namespace metal_emulator {
namespace {

struct KernelRegistration {
  const tensorflow::KernelDef def;
  const std::string class_name;
  std::unique_ptr<tensorflow::kernel_factory::OpKernelFactory> factory;
};
struct KernelRegistry {
  tensorflow::mutex mu;
  std::unordered_multimap<std::string, KernelRegistration> registry;
};

std::string joined(std::vector<std::string> all, const char* by) {
  std::sort(all.begin(), all.end());
  std::string text;
  for (size_t at = 0; at < all.size(); ++at) text += (at ? by : "") + all[at];
  return text;
}

// A kernel in one line, as `kept.py` writes it: operation|attribute=types;...|arguments on the host|label
std::string line_of(const tensorflow::KernelDef& kernel) {
  std::vector<std::string> constraints;
  for (const auto& one : kernel.constraint()) {
    const auto& allowed = one.allowed_values().list().type();
    if (allowed.empty()) continue;
    std::vector<int> types(allowed.begin(), allowed.end());
    std::sort(types.begin(), types.end());
    std::string text = one.name() + "=";
    for (size_t at = 0; at < types.size(); ++at) text += (at ? "," : "") + std::to_string(types[at]);
    constraints.push_back(text);
  }
  const std::vector<std::string> on_host(kernel.host_memory_arg().begin(), kernel.host_memory_arg().end());
  return kernel.op() + "|" + joined(constraints, ";") + "|" + joined(on_host, ",") + "|" + kernel.label();
}

}  // namespace

int hide_cuda_kernels() {
  static const std::set<std::string> kept{
#include "kept_kernels.inc"
  };
  auto* all = static_cast<KernelRegistry*>(tensorflow::GlobalKernelRegistry());
  tensorflow::mutex_lock lock(all->mu);
  int hidden = 0;
  for (auto it = all->registry.begin(); it != all->registry.end();) {
    const tensorflow::KernelDef& kernel = it->second.def;
    const bool foreign = kernel.device_type() == "GPU" && !kept.count(line_of(kernel));
    hidden += foreign;
    it = foreign ? all->registry.erase(it) : std::next(it);
  }
  return hidden;
}

}  // namespace metal_emulator
