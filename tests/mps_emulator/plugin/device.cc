// The device itself: memory, generators, the guard of its type, and what torch.mps and torch.backends.mps ask for.

#include "emulator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdlib>
#include <iomanip>
#include <map>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace mps_emulator {
namespace {

const c10::Device DEVICE(c10::DeviceType::MPS, 0);

// What Metal recommends on a Mac with 16 GiB of memory, as its users have posted it. One buffer may be as large here.
constexpr size_t RECOMMENDED = 11453251584;
// PyTorch's default for PYTORCH_MPS_HIGH_WATERMARK_RATIO.
constexpr double WATERMARK = 1.7;
// Sizes are rounded up to a multiple of this many bytes.
constexpr size_t ROUNDED = 256;

std::string readable(size_t size) {
  const char* units[] = {" bytes", " KiB", " MiB", " GiB"};
  double value = static_cast<double>(size);
  int unit = 0;
  for (; unit < 3 && value > 1024; ++unit) value /= 1024;
  std::ostringstream text;
  text << std::setprecision(2) << std::fixed << value << units[unit];
  return text.str();
}

// Memory that was freed is kept for the next tensor, until emptyCache.
class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    void* data = size == 0 ? nullptr : take((size + ROUNDED - 1) / ROUNDED * ROUNDED);
    return {data, data, &Allocator::give_back, DEVICE};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Allocator::give_back; }

  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  size_t in_use() const {
    const std::lock_guard<std::mutex> guard(lock_);
    return in_use_;
  }

  size_t reserved() const {
    const std::lock_guard<std::mutex> guard(lock_);
    return in_use_ + cached_;
  }

  void empty_cache() {
    const std::lock_guard<std::mutex> guard(lock_);
    release_cache();
  }

  void set_fraction(double fraction) {
    const std::lock_guard<std::mutex> guard(lock_);
    most_ = fraction == 0 ? SIZE_MAX : static_cast<size_t>(fraction * RECOMMENDED);
  }

 private:
  void* take(size_t size) {
    const std::lock_guard<std::mutex> guard(lock_);
    TORCH_CHECK(size < RECOMMENDED, "Invalid buffer size: ", readable(size));
    const auto found = cache_.lower_bound(size);
    void* data = nullptr;
    if (found != cache_.end() && found->first <= 2 * size) {
      size = found->first;
      data = found->second;
      cached_ -= size;
      cache_.erase(found);
    } else {
      if (in_use_ + cached_ + size > most_) release_cache();
      TORCH_CHECK(
          in_use_ + size <= most_, "MPS backend out of memory (MPS allocated: ", readable(in_use_),
          ", other allocations: ", readable(0), ", max allowed: ", readable(most_), "). Tried to allocate ",
          readable(size), " on shared pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for "
          "memory allocations (may cause system failure).");
      data = std::aligned_alloc(ROUNDED, size);
      TORCH_CHECK(data != nullptr, "the host has no ", readable(size), " for the emulated device");
    }
    in_use_ += size;
    sizes_[data] = size;
    return data;
  }

  static void give_back(void* data);

  void keep(void* data) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = sizes_.find(data);
    in_use_ -= found->second;
    cached_ += found->second;
    cache_.emplace(found->second, data);
    sizes_.erase(found);
  }

  void release_cache() {
    for (const auto& one : cache_) std::free(one.second);
    cache_.clear();
    cached_ = 0;
  }

  mutable std::mutex lock_;
  std::unordered_map<void*, size_t> sizes_;
  std::multimap<size_t, void*> cache_;
  size_t in_use_ = 0;
  size_t cached_ = 0;
  size_t most_ = static_cast<size_t>(WATERMARK * RECOMMENDED);
};

// Tensors may outlive the library's own objects, so this one is never destroyed.
Allocator& memory() {
  static auto* made = new Allocator;
  return *made;
}

void Allocator::give_back(void* data) {
  if (data != nullptr) memory().keep(data);
}

// A generator of the device, which has its numbers from one of the CPU.
struct Generator final : public c10::GeneratorImpl {
  Generator() : GeneratorImpl(DEVICE, c10::DispatchKeySet(c10::DispatchKey::MPS)) {}
  void set_current_seed(uint64_t seed) override { of_host()->set_current_seed(seed); }
  void set_offset(uint64_t offset) override { of_host()->set_offset(offset); }
  uint64_t get_offset() const override { return of_host()->get_offset(); }
  uint64_t current_seed() const override { return of_host()->current_seed(); }
  uint64_t seed() override { return of_host()->seed(); }
  void set_state(const c10::TensorImpl& state) override { of_host()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return of_host()->get_state(); }

  at::Generator host = at::detail::createCPUGenerator();

 private:
  c10::GeneratorImpl* of_host() const { return host.unsafeGetGeneratorImpl(); }
  Generator* clone_impl() const override {
    auto* made = new Generator;
    made->host = host.clone();
    return made;
  }
};

const at::Generator& default_generator() {
  static auto* made = new at::Generator(at::make_generator<Generator>());
  return *made;
}

// One device with one stream.
struct Guard final : public c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::MPS; }
  c10::Device exchangeDevice(c10::Device) const override { return DEVICE; }
  c10::Device getDevice() const override { return DEVICE; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  bool queryStream(const c10::Stream&) const override { return done_at() <= now(); }
  void synchronizeStream(const c10::Stream&) const override { wait_until(done_at()); }
  void synchronizeDevice(const c10::DeviceIndex) const override { wait_until(done_at()); }

  // An event is the time at which the queue reaches it.
  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new int64_t;
    *static_cast<int64_t*>(*event) = std::max(now(), done_at());
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void* event) const override { return event == nullptr || *static_cast<int64_t*>(event) <= now(); }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) wait_until(*static_cast<int64_t*>(event));
  }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex) const override {
    return (*static_cast<int64_t*>(second) - *static_cast<int64_t*>(first)) / 1e6;
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<int64_t*>(event);
  }
};

C10_REGISTER_GUARD_IMPL(MPS, Guard);

// The answers to torch.mps and torch.backends.mps. PyTorch looks for a class of this name.
struct MPSHooks final : public at::MPSHooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasMPS() const override { return true; }
  bool isOnMacOSorNewer(unsigned major, unsigned) const override { return major <= 15; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return default_generator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::make_generator<Generator>(); }
  c10::Allocator* getMPSDeviceAllocator() const override { return allocator(); }
  c10::Device getDeviceFromPtr(void*) const override { return DEVICE; }
  void deviceSynchronize() const override { wait_until(done_at()); }
  void commitStream() const override {}
  void emptyCache() const override { memory().empty_cache(); }
  size_t getCurrentAllocatedMemory() const override { return memory().in_use(); }
  size_t getDriverAllocatedMemory() const override { return memory().reserved(); }
  size_t getRecommendedMaxMemory() const override { return RECOMMENDED; }
  size_t getMaxBufferLength() const override { return RECOMMENDED; }
  void setMemoryFraction(double fraction) const override { memory().set_fraction(fraction); }

  uint32_t acquireEvent(bool) const override {
    const std::lock_guard<std::mutex> guard(lock_);
    events_[++last_] = 0;
    return last_;
  }
  void releaseEvent(uint32_t event) const override {
    const std::lock_guard<std::mutex> guard(lock_);
    events_.erase(event);
  }
  void recordEvent(uint32_t event) const override {
    const std::lock_guard<std::mutex> guard(lock_);
    events_[event] = std::max(now(), done_at());
  }
  void waitForEvent(uint32_t) const override {}
  void synchronizeEvent(uint32_t event) const override { wait_until(time_of(event)); }
  bool queryEvent(uint32_t event) const override { return time_of(event) <= now(); }
  double elapsedTimeOfEvents(uint32_t first, uint32_t second) const override {
    return (time_of(second) - time_of(first)) / 1e6;
  }

 private:
  int64_t time_of(uint32_t event) const {
    const std::lock_guard<std::mutex> guard(lock_);
    return events_.at(event);
  }

  mutable std::mutex lock_;
  mutable std::unordered_map<uint32_t, int64_t> events_;
  mutable uint32_t last_ = 0;
};

}  // namespace
}  // namespace mps_emulator

// The macro makes the class's name a key of PyTorch's registry, so the name stands alone.
namespace at {
using mps_emulator::MPSHooks;
REGISTER_MPS_HOOKS(MPSHooks)
}  // namespace at

namespace mps_emulator {

c10::Allocator* allocator() { return &memory(); }

at::Generator host_generator(const at::Generator& generator) {
  return static_cast<Generator*>(generator.unsafeGetGeneratorImpl())->host;
}

at::Generator host_generator() { return host_generator(default_generator()); }

namespace {
const bool registered = (c10::SetAllocator(c10::DeviceType::MPS, allocator()), true);
}  // namespace

}  // namespace mps_emulator
