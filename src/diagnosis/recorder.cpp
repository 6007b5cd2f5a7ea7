// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "core/config.hpp"
#include "core/hash.hpp"
#include "diagnosis/fixed_text.hpp"
#include "diagnosis/format.hpp"
#include "diagnosis/site_text.hpp"

namespace tutti::detail::flight {
namespace {

/// The words of the command, with blanks between.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

std::unique_ptr<trace::Log> make_log(const std::string& file) {
  if (file.empty()) return nullptr;
  std::string problem;
  auto log = trace::Log::create(file, command_line(), problem);
  if (!log) std::fputs(("tutti: TUTTI_TRACE: no trace of this process: " + problem + "\n").c_str(), stderr);
  return log;
}

/// Returns false if MPI has been told that one thread at a time makes calls.
bool may_have_threads() {
  int is_initialized = 0;
  int level = MPI_THREAD_MULTIPLE;
  MPI_Initialized(&is_initialized);
  if (is_initialized != 0) MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

Recorder* make_recorder() {
  const Config& settings = config();
  if (settings.flight_entries == 0) return nullptr;
  std::string problem;
  RecorderMemory memory =
      RecorderMemory::create(bytes_for(settings.flight_entries, settings.checksums), settings.flight_folder, problem);
  if (!memory.valid()) {
    if (settings.flight_folder.empty())
      log_once("no flight recorder: " + problem);
    else  // the files that the user wants are not there
      std::fputs(("tutti: TUTTI_FLIGHT: no recorder of this process: " + problem + "\n").c_str(), stderr);
    return nullptr;
  }
  if (settings.checksums) want_sites();
  return new Recorder(std::move(memory), settings.flight_entries, make_log(settings.trace_file), may_have_threads(),
                      settings.checksums);
}

}  // namespace

Recorder* Recorder::instance() {
  static Recorder* const made = make_recorder();
  return made;
}

Recorder::Recorder(RecorderMemory&& memory, std::uint32_t entries, std::unique_ptr<trace::Log> log, bool has_threads,
                   bool has_checksums)
    : memory_(std::move(memory)),
      parts_(memory_.data()),
      mask_(entries - 1),
      has_threads_(has_threads),
      log_(std::move(log)),
      checksums_(has_checksums ? parts_.checksums(entries) : nullptr) {
  Header& header = *parts_.header;
  header.version = version;
  header.entries = entries;
  header.has_checksums = has_checksums ? 1 : 0;
  header.process = getpid();
  header.opened = header.seen = Moment::now();
  keep_begin(host_name(), header.host);
  keep_begin(command_line(), header.command);
  CommunicatorRow& rest = parts_.communicators[communicator_rows - 1];
  rest.number = communicator_rows - 1;
  keep_begin("one of many", rest.name);
  header.magic.store(magic, std::memory_order_release);
}

std::uint32_t Recorder::add_communicator(std::uint64_t mark, int rank, int size, std::string_view name) noexcept {
  const std::lock_guard lock(mutex_);
  parts_.header->seen = Moment::now();
  for (std::uint32_t i = 0; i + 1 < communicator_rows; ++i) {
    CommunicatorRow& row = parts_.communicators[i];
    if (row.mark.load(std::memory_order_relaxed) != 0) continue;
    row.number = row_of(i) + (row.number / 65536 + 1) % 65536 * 65536;
    row.rank = rank;
    row.size = size;
    row.sequence.store(0, std::memory_order_relaxed);
    keep_begin(name, row.name);
    row.mark.store(mark, std::memory_order_release);
    if (log_) log_->add_communicator(row.number, mark, rank, size, name);
    return row.number;
  }
  return communicator_rows - 1;
}

void Recorder::remove_communicator(std::uint32_t number) noexcept {
  const std::uint32_t row = row_of(number);
  if (row + 1 < communicator_rows) parts_.communicators[row].mark.store(0, std::memory_order_release);
}

TextNumber Recorder::text(std::string_view text) noexcept {
  const std::uint64_t key = Hash().add(text).value() | 1U;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < text_rows; ++i) {
    TextRow& row = parts_.texts[(key + i) % text_rows];
    const std::uint64_t found = row.key.load(std::memory_order_relaxed);
    if (found == 0) {
      keep_begin(text, row.text);
      if (log_) log_->add_text(static_cast<TextNumber>((key + i) % text_rows + 1), text);
      row.key.store(key, std::memory_order_release);
    }
    if (found == 0 || found == key) return static_cast<TextNumber>((key + i) % text_rows) + 1;
  }
  return 0;
}

void Recorder::introduce(std::uint64_t job, int world_rank, int world_size) noexcept {
  const std::lock_guard lock(mutex_);
  Header& header = *parts_.header;
  if (header.job == 0) header.job = job;
  header.world_rank = world_rank;
  header.world_size = world_size;
  header.seen = Moment::now();
  if (log_) log_->introduce(job, world_rank, world_size);
}

void Recorder::begin_in_log(Entry& entry, const Facts& facts, std::uint32_t sequence, State state) noexcept {
  // What this call writes over may be outstanding.
  const std::uint64_t before = entry.number.load(std::memory_order_relaxed);
  if (before != 0 && !is_over(entry.state.load(std::memory_order_relaxed))) log_->keep(before, entry.trace_slot);
  Facts its_facts = facts;
  its_facts.sequence = sequence;
  entry.trace_slot = log_->begin_call(its_facts, state);
}

trace::SlotNumber Recorder::trace_slot_of(std::uint64_t number, bool is_over) noexcept {
  const Entry& entry = entry_of(number);
  return entry.number.load(std::memory_order_relaxed) == number ? entry.trace_slot : log_->kept(number, is_over);
}

void Recorder::resolve_in_log(std::uint64_t number, int source, int tag) noexcept {
  const Entry& entry = entry_of(number);
  if (entry.number.load(std::memory_order_relaxed) != number) return;
  const bool is_open = entry.facts.call == Call::recv && (entry.facts.peer == any || entry.facts.tag == any);
  if (is_open) log_->came_from(entry.trace_slot, source, tag);
}

void Recorder::sum(std::uint64_t number, const Summed& call) noexcept {
  ChecksumRow& row = checksums_[number & mask_];
  row.number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  row.call = call;
  row.number.store(number, std::memory_order_release);
}

void Recorder::sum_taken(std::uint64_t number, const Digest& taken) noexcept {
  ChecksumRow& row = checksums_[number & mask_];
  if (row.number.load(std::memory_order_relaxed) != number) return;
  row.call.taken = taken;
  row.taken_number.store(number, std::memory_order_release);
}

void Recorder::finish() noexcept {
  const std::lock_guard lock(mutex_);
  parts_.header->ended = 1;
  parts_.header->seen = Moment::now();
}

void Recorder::keep(int process, int descriptor) noexcept {
  const std::lock_guard lock(mutex_);
  if (kept_ >= 0 || descriptor < 0) return;
  std::array<char, 64> path{};
  *fmt::format_to_n(path.data(), path.size() - 1, "/proc/{}/fd/{}", process, descriptor).out = '\0';
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  Header header{};
  const bool is_recorder = file >= 0 && pread(file, static_cast<void*>(&header), sizeof header, 0) == sizeof header &&
                           header.magic.load() == magic && header.process == process;
  if (is_recorder)
    kept_ = file;
  else if (file >= 0)
    close(file);
}

void Recorder::place_running(std::uint32_t communicator, TextNumber site) noexcept {
  constexpr std::uint64_t looked_at = 64;
  const std::uint64_t last = parts_.header->next.load(std::memory_order_relaxed);
  for (std::uint64_t number = last; number > 0 && number + looked_at > last; --number) {
    const Entry& entry = entry_of(number);
    // Another thread may be writing the entry, whose number comes last.
    const bool is_written = entry.number.load(std::memory_order_acquire) == number;
    if (is_written && entry.state.load(std::memory_order_relaxed) == State::running &&
        entry.facts.communicator == communicator)
      place(number, site);
  }
}

void record_place(const Note& outstanding, Recorder* recorder, std::uint32_t communicator) noexcept {
  if (recorder == nullptr) return;
  try {
    const TextNumber site = recorder->text(text_of(record_of(take_site())));
    if (outstanding.recorder != nullptr)
      recorder->place(outstanding.number, site);
    else
      recorder->place_running(communicator, site);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a call without a place
  }
}

}  // namespace tutti::detail::flight
