// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/runtime.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <tutti/error.hpp>

#include "support/standin/stream.hpp"

namespace tutti::standin {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw Error(ErrorCode::cuda, "stand-in of CUDA: " + problem); }

struct Piece {
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
};

}  // namespace

struct Runtime::State {
  explicit State(int count) : devices(static_cast<std::size_t>(count)), uuids(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < uuids.size(); ++i) uuids[i].fill(static_cast<unsigned char>(i + 1));
  }

  mutable std::recursive_mutex mutex;
  std::vector<Stream> devices;  ///< the default stream of each
  std::vector<detail::device::Uuid> uuids;
  std::map<std::thread::id, int> current;
  std::set<Stream*> streams;
  std::vector<std::unique_ptr<Stream>> made;
  std::map<EventHandle, Mark> events;
  std::map<std::uintptr_t, Piece> memory;
  std::vector<void*> released;  ///< that work under way may still use
  std::size_t used = 0;
  std::size_t most = ~std::size_t{0};
  std::size_t forbidden = 0;
  std::multiset<std::string> failures;
  std::map<std::uint64_t, std::shared_ptr<Graph>> captures;
  std::map<int, std::shared_ptr<Graph>> graphs;
  std::uint64_t last_capture = 0;
  std::uintptr_t last_handle = 0x1000;
  int last_graph = 0;
  bool has_context = true;
  bool is_installed = false;
  detail::device::Runtime* former = nullptr;

  int current_device() {
    const auto found = current.find(std::this_thread::get_id());
    return found == current.end() ? 0 : found->second;
  }

  Stream& stream_of(StreamHandle handle) {
    constexpr std::uintptr_t special = 2;  // cudaStreamLegacy, cudaStreamPerThread
    if (reinterpret_cast<std::uintptr_t>(handle) <= special) return devices[static_cast<std::size_t>(current_device())];
    auto* stream = static_cast<Stream*>(handle);
    if (!streams.contains(stream) || stream->is_destroyed) refuse("no such stream");
    return *stream;
  }

  Mark& mark_of(EventHandle event) {
    const auto found = events.find(event);
    if (found == events.end()) refuse("no such event");
    return found->second;
  }

  void add(Stream& stream, Job job) {
    if (stream.capture == 0)
      stream.jobs.push_back(std::move(job));
    else
      captures.at(stream.capture)->lanes[stream.lane].push_back({std::move(job), 0, 0});
  }

  /// A stream waits for an event of a capture: it takes part from now on.
  void join(Stream& stream, const Mark& mark) {
    const auto found = captures.find(mark.capture);
    if (found == captures.end()) refuse("wait_event: the capture that the event was recorded in has ended");
    if (stream.capture != 0 && stream.capture != mark.capture) refuse("wait_event: the event is of another capture");
    Graph& graph = *found->second;
    if (stream.capture == 0) {
      stream.capture = mark.capture;
      stream.lane = graph.lanes.size();
      graph.lanes.emplace_back();
    }
    graph.lanes[stream.lane].push_back({{"wait_event", [] { return true; }}, mark.lane, mark.position});
  }

  bool all_empty() const {
    return std::ranges::all_of(streams, [](const Stream* s) { return s->jobs.empty(); });
  }

  bool has_nccl_work() const {
    return std::ranges::any_of(streams, [](const Stream* s) {
      return std::ranges::any_of(s->jobs, [](const Job& job) { return job.name.starts_with("nccl"); });
    });
  }

  /// At most `most` jobs of a stream, what they wait for before them. Nobody holds the mutex while a job is called.
  void drive(Stream& stream, std::size_t most_jobs, int depth = 0);
  bool step(Stream& stream);
  /// The stream as far as it goes; where `done` is false then, all others a step.
  template <typename Done>
  bool ask(Stream& stream, const Done& done);
  void sweep();
};

bool Runtime::State::step(Stream& stream) {
  std::unique_lock lock(mutex);
  if (stream.jobs.empty() || stream.is_running) return false;
  stream.is_running = true;
  Job& job = stream.jobs.front();
  lock.unlock();
  bool done = true;
  std::exception_ptr failure;
  try {
    done = job.work();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  stream.is_running = false;
  if (!done) return false;
  stream.waits_for = nullptr;
  const Job finished = std::move(stream.jobs.front());
  stream.jobs.pop_front();
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
  return true;
}

void Runtime::State::drive(Stream& stream, std::size_t most_jobs, int depth) {
  constexpr int deepest = 16;
  for (std::size_t i = 0; i < most_jobs; ++i) {
    if (step(stream)) continue;
    Stream* before = stream.waits_for.load();
    if (before == nullptr || before == &stream || depth > deepest) return;
    drive(*before, most_jobs, depth + 1);
    if (!step(stream)) return;
  }
}

template <typename Done>
bool Runtime::State::ask(Stream& stream, const Done& done) {
  constexpr std::size_t all = ~std::size_t{0};
  if (done()) return true;
  drive(stream, all);
  if (done()) return true;
  std::vector<Stream*> others;
  {
    const std::lock_guard lock(mutex);
    others.assign(streams.begin(), streams.end());
  }
  for (Stream* other : others)
    if (other != &stream) drive(*other, 1);
  return done();
}

void Runtime::State::sweep() {
  if (!all_empty()) return;
  for (void* address : released) std::free(address);
  released.clear();
}

namespace {

/// `rows` pieces; one lock of the copied memory is not needed, since streams run in whoever asks.
void copy_now(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memmove(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                 width);
}

}  // namespace

Runtime::Runtime(int devices) : state_(std::make_unique<State>(devices)) {
  for (Stream& stream : state_->devices) state_->streams.insert(&stream);
}

Runtime::~Runtime() {
  if (state_->is_installed) detail::device::replace_runtime(state_->former);
  for (void* address : state_->released) std::free(address);
  for (const auto& [address, piece] : state_->memory) std::free(reinterpret_cast<void*>(address));
}

void Runtime::install() {
  state_->former = detail::device::replace_runtime(this);
  state_->is_installed = true;
}

void Runtime::note(const std::string& name, const std::string& what) {
  const std::lock_guard lock(state_->mutex);
  record_.push_back(what.empty() ? name : name + " " + what);
  const auto failure = state_->failures.find(name);
  if (failure == state_->failures.end()) return;
  state_->failures.erase(failure);
  if (name == "allocate") throw Error(ErrorCode::out_of_memory, "stand-in of CUDA: allocate was told to fail");
  refuse(name + " was told to fail");
}

void Runtime::enqueue(StreamHandle stream, const std::string& name, Work work) {
  const std::lock_guard lock(state_->mutex);
  state_->add(state_->stream_of(stream), {name, std::move(work)});
}

bool Runtime::run_some() {
  std::vector<Stream*> streams;
  {
    const std::lock_guard lock(state_->mutex);
    streams.assign(state_->streams.begin(), state_->streams.end());
  }
  for (Stream* stream : streams) state_->drive(*stream, 1);
  const std::lock_guard lock(state_->mutex);
  return state_->all_empty();
}

void Runtime::run_all() {
  int has_mpi = 0;
  int is_over = 0;
  MPI_Initialized(&has_mpi);
  MPI_Finalized(&is_over);
  while (!run_some()) {
    int found = 0;
    if (has_mpi != 0 && is_over == 0)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    sched_yield();
  }
}

void Runtime::drop_all() {
  const std::lock_guard lock(state_->mutex);
  for (Stream* stream : state_->streams) {
    stream->jobs.clear();
    stream->waits_for = nullptr;
  }
  for (const auto& [event, mark] : state_->events)
    if (mark.done) mark.done->store(true);
}

void Runtime::fail_next(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  state_->failures.insert(name);
}

std::size_t Runtime::live_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->memory.size();
}

std::size_t Runtime::forbidden_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->forbidden;
}

void Runtime::set_memory(std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->most = bytes;
}

void Runtime::set_context(bool has) {
  const std::lock_guard lock(state_->mutex);
  state_->has_context = has;
}

void Runtime::set_uuid(int device, detail::device::Uuid uuid) {
  const std::lock_guard lock(state_->mutex);
  state_->uuids.at(static_cast<std::size_t>(device)) = uuid;
}

bool Runtime::has_context() {
  const std::lock_guard lock(state_->mutex);
  return state_->has_context;
}

int Runtime::device_count() { return static_cast<int>(state_->devices.size()); }

int Runtime::current_device() {
  const std::lock_guard lock(state_->mutex);
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

Runtime::Pointer Runtime::inspect(const void* address) {
  const std::lock_guard lock(state_->mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = state_->memory.upper_bound(at);
  if (!state_->has_context || next == state_->memory.begin()) return {};
  const auto& [begin, piece] = *--next;
  if (at - begin >= std::max<std::size_t>(piece.bytes, 1)) return {};
  return {piece.kind, piece.kind == MemoryKind::pinned ? -1 : piece.device};
}

void* Runtime::allocate(MemoryKind kind, std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  note("allocate", std::string(memory_kind_name(kind)) + " " + std::to_string(bytes));
  if (state_->has_nccl_work()) ++state_->forbidden;
  if (kind == MemoryKind::host || kind == MemoryKind::detect) refuse("allocate: not a kind of CUDA's memory");
  constexpr std::size_t alignment = 4096;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  state_->sweep();
  void* address = bytes > state_->most - state_->used ? nullptr : std::aligned_alloc(alignment, size);
  if (address == nullptr) throw Error(ErrorCode::out_of_memory, "stand-in of CUDA: allocate: out of memory");
  std::memset(address, 0xff, size);
  state_->has_context = true;
  state_->used += bytes;
  state_->memory[reinterpret_cast<std::uintptr_t>(address)] = {bytes, kind, state_->current_device()};
  return address;
}

void Runtime::release(MemoryKind kind, void* address) noexcept {
  const std::lock_guard lock(state_->mutex);
  record_.push_back(std::string("release ") + memory_kind_name(kind));
  if (state_->has_nccl_work()) ++state_->forbidden;
  const auto found = state_->memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == state_->memory.end()) std::abort();
  state_->used -= found->second.bytes;
  state_->memory.erase(found);
  state_->released.push_back(address);
  state_->sweep();
}

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
  state_->streams.insert(stream);
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
  if (stream.capture != 0) {
    mark = {nullptr, &stream, stream.capture, stream.lane,
            state_->captures.at(stream.capture)->lanes[stream.lane].size()};
    return;
  }
  mark = {std::make_shared<std::atomic<bool>>(stream.jobs.empty()), &stream};
  if (stream.jobs.empty()) return;
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
  state_->add(stream, {"wait_event", [done = mark.done, other = mark.stream, &stream] {
                         stream.waits_for = other;
                         return done->load();
                       }});
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
  if (inspect(word).kind != MemoryKind::pinned) refuse("wait_flag: the word is not in pinned memory");
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stream_of(stream).capture != 0) refuse("wait_flag: the stream is captured");
  }
  enqueue(stream, "wait_flag", [word, value] {
    return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire) >= value;
  });
}

void Runtime::run_host(StreamHandle stream, std::function<void()> function) {
  note("run_host");
  enqueue(stream, "run_host", [function = std::move(function)] {
    function();
    return true;
  });
}

void Runtime::begin_capture(StreamHandle handle) {
  const std::lock_guard lock(state_->mutex);
  Stream& stream = state_->stream_of(handle);
  if (stream.capture != 0) refuse("begin_capture: the stream is captured already");
  stream.capture = ++state_->last_capture;
  stream.lane = 0;
  state_->captures[stream.capture] = std::make_shared<Graph>();
}

int Runtime::end_capture(StreamHandle handle) {
  const std::lock_guard lock(state_->mutex);
  Stream& origin = state_->stream_of(handle);
  if (origin.capture == 0 || origin.lane != 0) refuse("end_capture: the stream began no capture");
  const std::uint64_t id = origin.capture;
  for (Stream* stream : state_->streams)
    if (stream->capture == id) stream->capture = 0;
  const std::shared_ptr<Graph> graph = state_->captures.at(id);
  state_->captures.erase(id);
  if (!graph->is_joined()) refuse("end_capture: a stream that takes part has not joined");
  state_->graphs[++state_->last_graph] = graph;
  return state_->last_graph;
}

void Runtime::launch(int graph, StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stream_of(stream).capture != 0) refuse("launch: the stream is captured");
  const std::shared_ptr<Graph>& captured = state_->graphs.at(graph);
  const bool has_nccl = std::ranges::any_of(captured->lanes, [](const auto& lane) {
    return std::ranges::any_of(lane, [](const Graph::Node& node) { return node.job.name.starts_with("nccl"); });
  });
  enqueue(stream, has_nccl ? "nccl graph" : "graph", run_of(captured));
}

void Runtime::destroy_graph(int graph) {
  std::shared_ptr<Graph> last;
  const std::lock_guard lock(state_->mutex);
  last = std::move(state_->graphs.at(graph));
  state_->graphs.erase(graph);
}

std::uint64_t Runtime::capture_of(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  return state_->stream_of(stream).capture;
}

void Runtime::retain_by_graph(StreamHandle handle, void (*let_go)(void*), void* data) {
  const std::lock_guard lock(state_->mutex);
  note("retain_by_graph");
  const Stream& stream = state_->stream_of(handle);
  if (stream.capture == 0) refuse("retain_by_graph: the stream is not captured");
  state_->captures.at(stream.capture)->retained.push_back({let_go, data});
}

}  // namespace tutti::standin
