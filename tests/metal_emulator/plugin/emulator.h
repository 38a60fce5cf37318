// What the parts of the emulated Metal plug-in share: settings, and a queue that is behind the host.
#pragma once

#include <cstdint>

#include "tensorflow/c/tf_status.h"

namespace metal_emulator {

// A whole number from the environment.
int64_t setting(const char* name, int64_t otherwise);

// Nanoseconds of a clock that never goes back.
int64_t now();

// The virtual queue of the device. A kernel's result exists at once, but the device says "done" only when the
// queue has got there: whoever does not wait for it (a clock, a test) is caught, and no data race is possible.
void occupy(int64_t nanoseconds);
int64_t idle_at();
void wait_until(int64_t when);

// In kernels.cc: Metal's registrations, over the CPU's kernels.
void register_kernels(TF_Status* status);

// In registry.cc: takes out what a build for CUDA registers and a Mac's does not. Returns how many those were.
int hide_cuda_kernels();

}  // namespace metal_emulator
