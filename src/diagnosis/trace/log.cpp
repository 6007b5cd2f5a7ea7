// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/log.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/draft.hpp"
#include "core/file_limit.hpp"
#include "core/hash.hpp"
#include "core/process_watch.hpp"
#include "core/random_word.hpp"
#include "diagnosis/fixed_text.hpp"
#include "diagnosis/format.hpp"

namespace tutti::detail::trace {
namespace {

std::byte* map_bytes(int file, std::size_t begin, std::size_t bytes) noexcept {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(begin));
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

/// Equal in the processes of one kernel.
std::uint64_t own_machine() {
  const std::uint64_t machine = own_identity(0).machine;
  return machine != 0 ? machine : hash(flight::host_name());
}

constexpr std::size_t offset_of(SlotNumber slot) { return header_bytes + std::size_t{slot - 1} * slot_bytes; }

}  // namespace

std::unique_ptr<Log> Log::create(const std::string& file, std::string_view command, std::string& problem) {
  const std::string part = fmt::format("{}.{}.{}.{:016x}", file, flight::host_name(), getpid(), random_word());
  const int descriptor = open_new(part, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (descriptor < 0) {
    problem = fmt::format("making {} failed: {}; name a file in a folder that exists on each node", part,
                          std::strerror(errno));
    return nullptr;
  }
  std::byte* page = reserve_file(descriptor, 0, header_bytes) == 0 ? map_bytes(descriptor, 0, header_bytes) : nullptr;
  if (page == nullptr) {
    problem = fmt::format("reserving {} bytes for {} failed", header_bytes, part);
    close(descriptor);
    unlink(part.c_str());
    return nullptr;
  }
  auto* header = ::new (page) PartHeader;
  header->version = part_version;
  header->process = getpid();
  header->machine = own_machine();
  header->opened = header->seen = flight::Moment::now();
  keep_begin(flight::host_name(), header->host);
  keep_begin(command, header->command);
  header->magic = part_magic;
  return std::unique_ptr<Log>(new Log(file, part, descriptor, header));
}

Log::Log(std::string file, std::string part, int descriptor, PartHeader* header)
    : file_(std::move(file)), part_(std::move(part)), descriptor_(descriptor), header_(header) {}

Log::~Log() {
  close_window(current_);
  close_window(previous_);
  munmap(header_, header_bytes);
  close(descriptor_);
}

std::uint32_t Log::thread() noexcept {
  static std::atomic<std::uint32_t> threads{0};
  thread_local const std::uint32_t number = threads.fetch_add(1);
  return number;
}

void Log::close_window(Window& window) noexcept {
  if (window.data != nullptr) munmap(window.data, window_bytes);
  window = {};
}

bool Log::open_window(std::uint32_t number) noexcept {
  const std::size_t begin = header_bytes + number * window_bytes;
  std::byte* data =
      reserve_file(descriptor_, begin, window_bytes) == 0 ? map_bytes(descriptor_, begin, window_bytes) : nullptr;
  if (data == nullptr) return false;
  close_window(previous_);
  previous_ = std::exchange(current_, {data, number});
  header_->seen = flight::Moment::now();
  return true;
}

template <typename Record>
SlotNumber Log::append(const Record& record) noexcept {
  constexpr std::uint32_t slots = sizeof(Record) / slot_bytes;
  constexpr std::uint32_t most_slots = std::numeric_limits<std::uint32_t>::max() - 2 * slots_per_window;
  if (!is_open_) return 0;
  std::uint32_t slot = header_->slots;
  if (slot % slots_per_window + slots > slots_per_window) ++slot;  // leaves the window's last slot free
  const std::uint32_t window = slot / slots_per_window;
  const bool is_mapped = current_.data != nullptr && current_.number == window;
  is_full_ = is_full_ || slot > most_slots || (!is_mapped && !open_window(window));
  if (is_full_) {
    ++header_->lost;
    return 0;
  }
  std::byte* at = current_.data + slot % slots_per_window * slot_bytes;
  std::memcpy(at + sizeof(Kind), reinterpret_cast<const std::byte*>(&record) + sizeof(Kind),
              sizeof record - sizeof(Kind));
  std::atomic_signal_fence(std::memory_order_release);
  *reinterpret_cast<Kind*>(at) = record.head.kind;
  header_->slots = slot + slots;
  return slot + 1;
}

template <typename T>
void Log::put(SlotNumber slot, std::size_t offset, const T& value) noexcept {
  const std::uint32_t window = (slot - 1) / slots_per_window;
  const Window* mapped = current_.data != nullptr && current_.number == window     ? &current_
                         : previous_.data != nullptr && previous_.number == window ? &previous_
                                                                                   : nullptr;
  if (mapped != nullptr)
    std::memcpy(mapped->data + (slot - 1) % slots_per_window * slot_bytes + offset, &value, sizeof value);
  else if (is_open_)
    (void)!pwrite(descriptor_, &value, sizeof value, static_cast<off_t>(offset_of(slot) + offset));
}

SlotNumber Log::begin_call(const flight::Facts& facts, flight::State state) noexcept {
  CallRecord record;
  record.head.state = state;
  record.head.number = thread();
  record.facts = facts;
  const std::lock_guard lock(mutex_);
  record.begin = flight::ticks();
  return append(record);
}

void Log::wait(SlotNumber slot) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot != 0) put(slot, offsetof(CallRecord, wait), flight::ticks());
}

void Log::end_call(SlotNumber slot, flight::State state) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot == 0) return;
  put(slot, offsetof(CallRecord, end), flight::ticks());
  put(slot, offsetof(CallRecord, head) + offsetof(RecordHead, state), state);
}

void Log::came_from(SlotNumber slot, int source, int tag) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot == 0) return;
  put(slot, offsetof(CallRecord, facts) + offsetof(flight::Facts, peer), std::int32_t{source});
  put(slot, offsetof(CallRecord, facts) + offsetof(flight::Facts, tag), std::int32_t{tag});
}

void Log::add_transfer(SlotNumber group, bool is_recv, int peer, int tag, std::uint64_t bytes) noexcept {
  TransferRecord record;
  record.bytes = bytes;
  record.group = group;
  record.peer = peer;
  record.tag = tag;
  record.is_recv = is_recv ? 1 : 0;
  const std::lock_guard lock(mutex_);
  (void)append(record);
}

void Log::add_blocks(SlotNumber call, bool is_taken, std::span<const std::uint64_t> bytes) noexcept {
  if (call == 0) return;
  BlocksRecord record;
  record.call = call;
  record.is_taken = is_taken ? 1 : 0;
  const std::lock_guard lock(mutex_);
  for (std::size_t first = 0; first < bytes.size(); first += record.count) {
    record.first = static_cast<std::uint32_t>(first);
    record.count = static_cast<std::uint32_t>(std::min(BlocksRecord::most, bytes.size() - first));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), record.count, record.bytes.begin());
    (void)append(record);
  }
}

SlotNumber Log::begin_range(std::string_view name) noexcept {
  RangeRecord record;
  record.head.number = thread();
  keep_begin(name, record.name);
  const std::lock_guard lock(mutex_);
  record.begin = flight::ticks();
  return append(record);
}

void Log::end_range(SlotNumber slot) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot != 0) put(slot, offsetof(RangeRecord, end), flight::ticks());
}

void Log::keep(std::uint64_t number, SlotNumber slot) noexcept {
  const std::lock_guard lock(mutex_);
  if (slot == 0) return;
  try {
    kept_[number] = slot;
  } catch (const std::bad_alloc&) {
    ++header_->lost;  // its end
  }
}

SlotNumber Log::kept(std::uint64_t number, bool is_over) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(number);
  if (found == kept_.end()) return 0;
  const SlotNumber slot = found->second;
  if (is_over) kept_.erase(found);
  return slot;
}

void Log::add_communicator(std::uint32_t number, std::uint64_t mark, int rank, int size,
                           std::string_view name) noexcept {
  CommunicatorRecord record;
  record.head.number = number;
  record.mark = mark;
  record.rank = rank;
  record.size = size;
  keep_begin(name, record.name);
  const std::lock_guard lock(mutex_);
  (void)append(record);
  header_->seen = flight::Moment::now();
}

void Log::add_text(flight::TextNumber number, std::string_view text) noexcept {
  TextRecord record;
  record.head.text = number;
  keep_begin(text, record.text);
  const std::lock_guard lock(mutex_);
  (void)append(record);
}

void Log::add_offset(std::uint64_t own, std::uint64_t other, std::uint64_t round_trip) noexcept {
  OffsetRecord record;
  record.own = own;
  record.other = other;
  record.round_trip = round_trip;
  const std::lock_guard lock(mutex_);
  (void)append(record);
}

void Log::introduce(std::uint64_t job, int world_rank, int world_size) noexcept {
  const std::lock_guard lock(mutex_);
  if (header_->world_rank >= 0 || !is_open_) return;
  header_->job = job;
  header_->world_rank = world_rank;
  header_->world_size = world_size;
  std::string name = fmt::format("{}.{}", file_, world_rank);
  if (std::rename(part_.c_str(), name.c_str()) == 0) part_ = std::move(name);
}

void Log::join(std::uint64_t job) noexcept {
  const std::lock_guard lock(mutex_);
  header_->job = job;
}

void Log::finish() noexcept {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  header_->ended = 1;
  header_->seen = flight::Moment::now();
  close_window(current_);
  close_window(previous_);
  (void)!ftruncate(descriptor_, static_cast<off_t>(header_bytes + header_->slots * slot_bytes));
}

}  // namespace tutti::detail::trace
