#include "emulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace metal_emulator {
namespace {
std::atomic<int64_t> busy_until{0};
}  // namespace

int64_t setting(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

int64_t now() {
  using std::chrono::nanoseconds;
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void occupy(int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  int64_t seen = busy_until.load();
  while (!busy_until.compare_exchange_weak(seen, std::max(seen, now()) + nanoseconds)) {
  }
}

int64_t idle_at() { return busy_until.load(); }

void wait_until(int64_t when) {
  const int64_t left = when - now();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

}  // namespace metal_emulator
