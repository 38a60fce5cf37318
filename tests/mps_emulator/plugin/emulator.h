// A device of PyTorch's type `mps` whose memory is the host's and whose kernels are the CPU's.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>

#include <cstdint>

namespace mps_emulator {

// The monotonic clock, in nanoseconds.
int64_t now();

// The device's queue. A kernel's result is there as soon as it was called; the queue may reach it later, by as
// much as MPS_EMULATOR_KERNEL_US asks for.

// Adds a kernel that took the processor so many nanoseconds.
void ran(int64_t nanoseconds);
// Returns when the queue is done, a time of `now`.
int64_t done_at();
// Waits until `when`, a time of `now`.
void wait_until(int64_t when);
// Returns the nanoseconds that the device has worked so far.
int64_t gpu_nanoseconds();

// The time of one kernel: from its construction to its end. What is called within it belongs to it.
class Kernel {
 public:
  Kernel();
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  static bool runs();

 private:
  int64_t began_;
};

// The device's memory, in bytes.
c10::Allocator* allocator();

// The generator of the CPU that stands for one of the device, or for the device's default one.
at::Generator host_generator(const at::Generator& generator);
at::Generator host_generator();

}  // namespace mps_emulator
