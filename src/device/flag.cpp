// SPDX-License-Identifier: BSD-3-Clause
#include "device/flag.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

namespace tutti::detail::device {
namespace {

std::atomic<std::size_t> closed{0};

std::uint32_t& word_of(const Block& block) { return *reinterpret_cast<std::uint32_t*>(block.data()); }

constexpr std::uint32_t open_height = ~std::uint32_t{0} >> 1U;  // cuStreamWaitValue32 compares differences

/// Words that streams may still read.
struct Retired {
  Block word;
  std::vector<Event> passed;
};

class Graveyard {
 public:
  static Graveyard& instance() {
    static auto* graveyard = new Graveyard;
    return *graveyard;
  }
  void add(Block word, std::vector<Event> passed) {
    const std::lock_guard lock(mutex_);
    retired_.push_back({std::move(word), std::move(passed)});
  }
  void sweep() {
    const std::lock_guard lock(mutex_);
    if (generation_ != runtime_generation()) retired_.clear();
    generation_ = runtime_generation();
    std::erase_if(retired_, [](const Retired& flag) {
      try {
        return std::ranges::all_of(flag.passed, [](const Event& event) { return event.is_complete(); });
      } catch (const Error&) {  // nobody can say any more: the word stays
        return false;
      }
    });
  }

 private:
  std::mutex mutex_;
  std::vector<Retired> retired_;
  std::uint64_t generation_ = 0;
};

}  // namespace

std::size_t Flag::closed_count() noexcept { return closed.load(std::memory_order_acquire); }

Flag::~Flag() {
  open();
  retire();
}

Flag::Flag(Flag&& other) noexcept
    : device_(other.device_),
      word_(std::move(other.word_)),
      passed_(std::move(other.passed_)),
      is_closed_(std::exchange(other.is_closed_, false)) {}

Flag& Flag::operator=(Flag&& other) noexcept {
  if (this == &other) return *this;
  open();
  retire();
  device_ = other.device_;
  word_ = std::move(other.word_);
  passed_ = std::move(other.passed_);
  is_closed_ = std::exchange(other.is_closed_, false);
  return *this;
}

void Flag::close(int device) {
  open();
  retire();
  Graveyard::instance().sweep();
  word_ = Pool::of(MemoryKind::pinned, device).acquire(sizeof(std::uint32_t));
  std::atomic_ref(word_of(word_)).store(0, std::memory_order_release);
  device_ = device;
  is_closed_ = true;
  closed.fetch_add(1, std::memory_order_acq_rel);
}

void Flag::hold(StreamHandle stream, std::uint32_t height) {
  const Guard guard(device_);
  auto last = std::ranges::find(passed_, stream, &Passed::stream);
  if (last == passed_.end()) last = passed_.insert(passed_.end(), Passed{stream, {}});
  required_runtime("a stream flag").wait_flag(stream, &word_of(word_), height);
  last->event.record(device_, stream);
}

void Flag::raise(std::uint32_t height) noexcept {
  if (is_closed_) std::atomic_ref(word_of(word_)).store(height, std::memory_order_release);
}

void Flag::open() noexcept {
  if (!is_closed_) return;
  raise(open_height);
  is_closed_ = false;
  closed.fetch_sub(1, std::memory_order_acq_rel);
}

void Flag::retire() noexcept {
  if (word_.data() == nullptr) return;
  try {
    std::vector<Event> events;
    for (Passed& stream : passed_) events.push_back(std::move(stream.event));
    passed_.clear();
    Graveyard::instance().add(std::move(word_), std::move(events));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the word goes back early only without memory
  }
}

}  // namespace tutti::detail::device
