#include "emulator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace mps_emulator {
namespace {

int64_t nanoseconds_more() {
  const char* value = std::getenv("MPS_EMULATOR_KERNEL_US");
  return value == nullptr ? 0 : 1000 * std::atoll(value);
}

const int64_t more = nanoseconds_more();

std::mutex lock;
// Nanoseconds of all kernels, and when the queue reaches the end of the last one.
int64_t total = 0;
int64_t end = 0;

thread_local int depth = 0;

}  // namespace

int64_t now() {
  using std::chrono::nanoseconds;
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ran(int64_t nanoseconds) {
  const std::lock_guard<std::mutex> guard(lock);
  total += nanoseconds + more;
  end = std::max(end, now()) + more;
}

int64_t done_at() {
  const std::lock_guard<std::mutex> guard(lock);
  return end;
}

void wait_until(int64_t when) {
  const int64_t left = when - now();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

int64_t gpu_nanoseconds() {
  const std::lock_guard<std::mutex> guard(lock);
  return total - std::max<int64_t>(0, end - now());
}

Kernel::Kernel() : began_(now()) { ++depth; }

Kernel::~Kernel() {
  if (--depth == 0) ran(now() - began_);
}

bool Kernel::runs() { return depth > 0; }

}  // namespace mps_emulator

extern "C" int64_t mps_emulator_gpu_nanoseconds() { return mps_emulator::gpu_nanoseconds(); }
