// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/runtime.hpp"

#include <cstdlib>
#include <cstring>

#include "support/standin/state.hpp"

namespace tutti::standin {
namespace {

/// `rows` pieces; one lock of the copied memory is not needed, since streams run in whoever asks.
void copy_now(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memmove(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                 width);
}

}  // namespace

Runtime::Runtime(int devices, std::size_t queues) : state_(std::make_unique<State>(devices, queues)) {
  for (Stream& stream : state_->devices) state_->begin(stream);
}

Runtime::~Runtime() {
  if (installed_ == this) installed_ = nullptr;
  if (state_->is_installed) detail::device::replace_runtime(state_->former);
  state_->join_threads();
  state_->drop_streams();
  for (const auto& [address, piece] : state_->memory)
    state_->released.emplace_back(piece.kind, reinterpret_cast<void*>(address));
  state_->sweep();
}

void Runtime::note(const std::string& name, const std::string& what) {
  state_->asked.store(std::chrono::steady_clock::now());
  const std::lock_guard lock(state_->mutex);
  record_.push_back(what.empty() ? name : name + " " + what);
  const auto failure = state_->failures.find(name);
  if (failure == state_->failures.end()) return;
  state_->failures.erase(failure);
  if (name == "allocate") throw Error(ErrorCode::out_of_memory, "stand-in of CUDA: allocate was told to fail");
  refuse(name + " was told to fail");
}

void Runtime::set_arrivals(void (*arrive)()) { state_->arrivals.store(arrive); }

bool Runtime::has_context() noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->has_context;
}

int Runtime::device_count() { return static_cast<int>(state_->devices.size()); }

int Runtime::current_device() {
  const std::lock_guard lock(state_->mutex);
  ++state_->questions["current_device"];
  return state_->current_device();
}

void Runtime::set_current_device(int device) {
  const std::lock_guard lock(state_->mutex);
  note("set_current_device", std::to_string(device));
  if (device < 0 || device >= device_count()) refuse("no device " + std::to_string(device));
  state_->current[std::this_thread::get_id()] = device;
}

detail::device::Uuid Runtime::uuid(int device) {
  const std::lock_guard lock(state_->mutex);
  return state_->uuids.at(static_cast<std::size_t>(device));
}

std::string Runtime::device_name(int device) { return "stand-in device " + std::to_string(device); }

void Runtime::copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) {
  note("copy", std::to_string(bytes));
  enqueue(stream, "copy", [=] {
    copy_now(to, 0, from, 0, bytes, 1);
    return true;
  });
}

void Runtime::copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                        std::size_t rows, StreamHandle stream) {
  note("copy_rows", std::to_string(width) + " " + std::to_string(rows));
  if (rows > 1 && (width > to_pitch || width > from_pitch)) refuse("copy_rows: a row is wider than its pitch");
  enqueue(stream, "copy_rows", [=] {
    copy_now(to, to_pitch, from, from_pitch, width, rows);
    return true;
  });
}

void Runtime::fill_zero(void* to, std::size_t bytes, StreamHandle stream) {
  note("fill_zero", std::to_string(bytes));
  enqueue(stream, "fill_zero", [=] {
    std::memset(to, 0, bytes);
    return true;
  });
}

StreamHandle Runtime::create_stream() {
  const std::lock_guard lock(state_->mutex);
  note("create_stream");
  state_->has_context = true;
  Stream* stream = state_->made.emplace_back(std::make_unique<Stream>()).get();
  stream->device = state_->current_device();
  state_->begin(*stream);
  return stream;
}

void Runtime::destroy_stream(StreamHandle stream) noexcept {
  const std::lock_guard lock(state_->mutex);
  record_.emplace_back("destroy_stream");
  // Its work still goes to the end.
  static_cast<Stream*>(stream)->is_destroyed = true;
}

EventHandle Runtime::create_event() {
  const std::lock_guard lock(state_->mutex);
  note("create_event");
  auto* const event = reinterpret_cast<EventHandle>(++state_->last_handle);
  state_->events[event] = {};
  state_->event_devices[event] = state_->current_device();
  return event;
}

void Runtime::destroy_event(EventHandle event) noexcept {
  const std::lock_guard lock(state_->mutex);
  record_.emplace_back("destroy_event");
  state_->events.erase(event);
}

void Runtime::record(EventHandle event, StreamHandle handle) {
  const std::lock_guard lock(state_->mutex);
  note("record");
  Stream& stream = state_->stream_of(handle);
  Mark& mark = state_->mark_of(event);
  if (state_->event_devices.at(event) != stream.device)
    refuse("record: the event is of another device than the stream");
  if (stream.capture != 0) {
    mark = {nullptr, &stream, stream.capture, stream.lane,
            state_->captures.at(stream.capture)->lanes[stream.lane].size()};
    return;
  }
  mark = {std::make_shared<std::atomic<bool>>(false), &stream};
  state_->add(stream, {"record", [done = mark.done] {
                         done->store(true);
                         return true;
                       }});
}

bool Runtime::is_complete(EventHandle event) {
  note("is_complete");
  Mark mark;
  {
    const std::lock_guard lock(state_->mutex);
    mark = state_->mark_of(event);
  }
  if (mark.capture != 0) refuse("is_complete: the event was recorded in a capture");
  if (mark.stream == nullptr) return true;
  return state_->ask(*mark.stream, [&] { return mark.done->load(); });
}

void Runtime::wait_event(StreamHandle handle, EventHandle event) {
  const std::lock_guard lock(state_->mutex);
  note("wait_event");
  Stream& stream = state_->stream_of(handle);
  const Mark& mark = state_->mark_of(event);
  if (mark.capture != 0) return state_->join(stream, mark);
  if (mark.stream == nullptr) return;
  if (stream.capture != 0) refuse("wait_event: the event is from outside of the capture");
  const auto wait = [done = mark.done, other = mark.stream, &stream] {
    stream.waits_for = other;
    return done->load();
  };
  state_->add(stream, {"wait_event", wait, true});
}

int Runtime::device_of(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  ++state_->questions["device_of"];
  return state_->stream_of(stream).device;
}

bool Runtime::is_idle(StreamHandle handle) {
  note("is_idle");
  Stream* stream = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    stream = &state_->stream_of(handle);
    if (stream->capture != 0) refuse("is_idle: the stream is captured");
  }
  return state_->ask(*stream, [&] {
    const std::lock_guard lock(state_->mutex);
    return stream->jobs.empty();
  });
}

bool Runtime::has_stream_flags(int /*device*/) { return has_flags_; }

void Runtime::wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) {
  note("wait_flag");
  if (kind_of(word) != MemoryKind::pinned) refuse("wait_flag: the word is not in pinned memory");
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stream_of(stream).capture != 0) refuse("wait_flag: the stream is captured");
  }
  enqueue_wait(stream, "wait_flag", [word, value] {
    return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire) >= value;
  });
}

void Runtime::load_kernel(const void* code) {
  const std::lock_guard lock(state_->mutex);
  note("load_kernel");
  if (state_->has_nccl_work()) ++state_->forbidden;
  state_->loaded.emplace(state_->current_device(), code);
}

void Runtime::run_host(StreamHandle stream, std::function<void()> function, const void* kernel) {
  note("run_host");
  if (kernel != nullptr) {
    ++kernels_;
    const std::lock_guard lock(state_->mutex);
    if (!state_->loaded.contains({state_->current_device(), kernel})) load_kernel(kernel);
  }
  enqueue(stream, "run_host", [function = std::move(function), kernel] {
    if (kernel != nullptr) DeviceArena::find_helpers();
    function();
    return true;
  });
}

}  // namespace tutti::standin
