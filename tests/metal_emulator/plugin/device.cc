// The device: a TensorFlow PluggableDevice of type GPU and platform METAL, whose memory is the host's.
//
// The interface is tensorflow/c/experimental/stream_executor/stream_executor.h. What tensorflow-metal 1.2.0 sets was
// read from its library: no BFC allocator, statistics that it says to have and never fills.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulator.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace {

using metal_emulator::idle_at;
using metal_emulator::now;
using metal_emulator::setting;
using metal_emulator::wait_until;

void succeed(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

// ---------------------------------------------------------------- memory

void* aligned(uint64_t size) {
  void* memory = nullptr;
  return posix_memalign(&memory, 64, size == 0 ? 64 : size) == 0 ? memory : nullptr;
}

void allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = aligned(size);
  memory->size = size;
}

void deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) {
  free(memory->opaque);
  memory->opaque = nullptr;
  memory->size = 0;
}

void* host_allocate(const SP_Device*, uint64_t size) { return aligned(size); }

void host_deallocate(const SP_Device*, void* memory) { free(memory); }

TF_Bool allocator_stats(const SP_Device*, SP_AllocatorStats*) { return 1; }  // says so, and fills nothing

TF_Bool memory_usage(const SP_Device*, int64_t* available, int64_t* total) {
  *available = *total = 0;  // TensorFlow then prints "with 0 MB memory", as on a Mac
  return 1;
}

// ---------------------------------------------------------------- streams, events, timers

struct Event {
  int64_t done_at = 0;
};
struct Timer {
  int64_t begun = 0, ended = 0;
};

Event* event_of(SP_Event event) { return reinterpret_cast<Event*>(event); }
Timer* timer_of(SP_Timer timer) { return reinterpret_cast<Timer*>(timer); }

void create_stream(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  *stream = reinterpret_cast<SP_Stream>(new char);
  succeed(status);
}
void destroy_stream(const SP_Device*, SP_Stream stream) { delete reinterpret_cast<char*>(stream); }
void depend(const SP_Device*, SP_Stream, SP_Stream, TF_Status* status) { succeed(status); }
void stream_status(const SP_Device*, SP_Stream, TF_Status* status) { succeed(status); }

void create_event(const SP_Device*, SP_Event* event, TF_Status* status) {
  *event = reinterpret_cast<SP_Event>(new Event);
  succeed(status);
}
void destroy_event(const SP_Device*, SP_Event event) { delete event_of(event); }
SE_EventStatus event_status(const SP_Device*, SP_Event event) {
  return now() >= event_of(event)->done_at ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}
void record_event(const SP_Device*, SP_Stream, SP_Event event, TF_Status* status) {
  event_of(event)->done_at = idle_at();
  succeed(status);
}
void stream_waits(const SP_Device* const, SP_Stream, SP_Event, TF_Status* const status) { succeed(status); }
void host_waits_for_event(const SP_Device*, SP_Event event, TF_Status* status) {
  wait_until(event_of(event)->done_at);
  succeed(status);
}
void host_waits_for_stream(const SP_Device*, SP_Stream, TF_Status* status) {
  wait_until(idle_at());
  succeed(status);
}
void host_waits(const SP_Device*, TF_Status* status) {
  wait_until(idle_at());
  succeed(status);
}

void create_timer(const SP_Device*, SP_Timer* timer, TF_Status* status) {
  *timer = reinterpret_cast<SP_Timer>(new Timer);
  succeed(status);
}
void destroy_timer(const SP_Device*, SP_Timer timer) { delete timer_of(timer); }
void start_timer(const SP_Device*, SP_Stream, SP_Timer timer, TF_Status* status) {
  timer_of(timer)->begun = now();
  succeed(status);
}
void stop_timer(const SP_Device*, SP_Stream, SP_Timer timer, TF_Status* status) {
  timer_of(timer)->ended = now();
  succeed(status);
}
uint64_t timed(SP_Timer timer) { return timer_of(timer)->ended - timer_of(timer)->begun; }

TF_Bool call_on_host(const SP_Device*, SP_Stream, SE_StatusCallbackFn callback, void* argument) {
  TF_Status* status = TF_NewStatus();
  callback(argument, status);
  TF_DeleteStatus(status);
  return 1;
}

// ---------------------------------------------------------------- copies

// One line for each copy, "device 400" or "host 4", at the end of the file that the variable names.
void note_copy(const char* to, uint64_t size) {
  static const char* const path = std::getenv("METAL_EMULATOR_COPIES");
  if (path == nullptr) return;
  static const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  char line[48];
  const int length = std::snprintf(line, sizeof line, "%s %llu\n", to, static_cast<unsigned long long>(size));
  if (write(file, line, length) != length) std::perror("metal_emulator: METAL_EMULATOR_COPIES");
}

void to_host(const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  note_copy("host", size);
  memcpy(to, from->opaque, size);
  succeed(status);
}
void to_device(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from, uint64_t size, TF_Status* status) {
  note_copy("device", size);
  memcpy(to->opaque, from, size);
  succeed(status);
}
void on_device(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t size,
               TF_Status* status) {
  memmove(to->opaque, from->opaque, size);
  succeed(status);
}
void to_host_at_once(const SP_Device*, void* to, const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  wait_until(idle_at());
  note_copy("host", size);
  memcpy(to, from->opaque, size);
  succeed(status);
}
void to_device_at_once(const SP_Device*, SP_DeviceMemoryBase* to, const void* from, uint64_t size, TF_Status* status) {
  note_copy("device", size);
  memcpy(to->opaque, from, size);
  succeed(status);
}
void on_device_at_once(const SP_Device*, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t size,
                       TF_Status* status) {
  memmove(to->opaque, from->opaque, size);
  succeed(status);
}
void fill_zero(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint64_t size, TF_Status* status) {
  memset(memory->opaque, 0, size);
  succeed(status);
}
void fill_bytes(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint8_t value, uint64_t size,
                TF_Status* status) {
  memset(memory->opaque, value, size);
  succeed(status);
}
void fill_words(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint32_t value, uint64_t size,
                TF_Status* status) {
  for (uint64_t at = 0; at < size / sizeof value; ++at) static_cast<uint32_t*>(memory->opaque)[at] = value;
  succeed(status);
}

// ---------------------------------------------------------------- platform

void count_devices(const SP_Platform*, int* count, TF_Status* status) {
  *count = static_cast<int>(setting("METAL_EMULATOR_DEVICES", 1));
  succeed(status);
}

void create_device(const SP_Platform*, SE_CreateDeviceParams* parameters, TF_Status* status) {
  static const char* const name = "Apple M0 (emulated)";
  SP_Device* device = parameters->device;
  device->struct_size = SP_DEVICE_STRUCT_SIZE;
  device->ordinal = parameters->ordinal;
  device->hardware_name = name;
  device->device_vendor = "emulated on Linux";
  device->pci_bus_id = "<undefined>";
  std::fprintf(stderr, "Metal device set to: %s\n\nsystemMemory: 16.00 GB\nmaxCacheSize: 5.33 GB\n\n", name);
  succeed(status);
}
void destroy_device(const SP_Platform*, SP_Device*) {}

void create_device_functions(const SP_Platform*, SE_CreateDeviceFnsParams* parameters, TF_Status* status) {
  SP_DeviceFns* functions = parameters->device_fns;
  functions->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  functions->get_numa_node = [](const SP_Device*) -> int32_t { return 0; };
  functions->get_memory_bandwidth = [](const SP_Device*) -> int64_t { return 200; };
  functions->get_gflops = [](const SP_Device*) -> double { return 3200; };
  succeed(status);
}
void destroy_device_functions(const SP_Platform*, SP_DeviceFns*) {}

void create_executor(const SP_Platform*, SE_CreateStreamExecutorParams* parameters, TF_Status* status) {
  SP_StreamExecutor* executor = parameters->stream_executor;
  *executor = {SP_STREAMEXECUTOR_STRUCT_SIZE};
  executor->allocate = allocate;
  executor->deallocate = deallocate;
  executor->host_memory_allocate = host_allocate;
  executor->host_memory_deallocate = host_deallocate;
  executor->unified_memory_allocate = host_allocate;
  executor->unified_memory_deallocate = host_deallocate;
  executor->get_allocator_stats = allocator_stats;
  executor->device_memory_usage = memory_usage;
  executor->create_stream = create_stream;
  executor->destroy_stream = destroy_stream;
  executor->create_stream_dependency = depend;
  executor->get_stream_status = stream_status;
  executor->create_event = create_event;
  executor->destroy_event = destroy_event;
  executor->get_event_status = event_status;
  executor->record_event = record_event;
  executor->wait_for_event = stream_waits;
  executor->create_timer = create_timer;
  executor->destroy_timer = destroy_timer;
  executor->start_timer = start_timer;
  executor->stop_timer = stop_timer;
  executor->memcpy_dtoh = to_host;
  executor->memcpy_htod = to_device;
  executor->memcpy_dtod = on_device;
  executor->sync_memcpy_dtoh = to_host_at_once;
  executor->sync_memcpy_htod = to_device_at_once;
  executor->sync_memcpy_dtod = on_device_at_once;
  executor->block_host_for_event = host_waits_for_event;
  executor->block_host_until_done = host_waits_for_stream;
  executor->synchronize_all_activity = host_waits;
  executor->mem_zero = fill_zero;
  executor->memset = fill_bytes;
  executor->memset32 = fill_words;
  executor->host_callback = call_on_host;
  succeed(status);
}
void destroy_executor(const SP_Platform*, SP_StreamExecutor*) {}

void create_timer_functions(const SP_Platform*, SP_TimerFns* functions, TF_Status* status) {
  functions->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  functions->nanoseconds = timed;
  succeed(status);
}
void destroy_timer_functions(const SP_Platform*, SP_TimerFns*) {}

void destroy_platform(SP_Platform*) {}
void destroy_platform_functions(SP_PlatformFns*) {}

}  // namespace

extern "C" void SE_InitPlugin(SE_PlatformRegistrationParams* parameters, TF_Status* status) {
  SP_Platform* platform = parameters->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "METAL";
  platform->type = "GPU";
  platform->supports_unified_memory = 0;
  platform->use_bfc_allocator = 0;  // so the allocator knows no peak, and cannot be reset
  platform->force_memory_growth = 0;
  SP_PlatformFns* functions = parameters->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = count_devices;
  functions->create_device = create_device;
  functions->destroy_device = destroy_device;
  functions->create_device_fns = create_device_functions;
  functions->destroy_device_fns = destroy_device_functions;
  functions->create_stream_executor = create_executor;
  functions->destroy_stream_executor = destroy_executor;
  functions->create_timer_fns = create_timer_functions;
  functions->destroy_timer_fns = destroy_timer_functions;
  parameters->destroy_platform = destroy_platform;
  parameters->destroy_platform_fns = destroy_platform_functions;
  succeed(status);
}
