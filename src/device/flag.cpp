// SPDX-License-Identifier: BSD-3-Clause
#include "device/flag.hpp"

#include <atomic>
#include <mutex>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

namespace tutti::detail::device {
namespace {

std::atomic<std::size_t> closed{0};

std::uint32_t& word_of(const Block& block) { return *reinterpret_cast<std::uint32_t*>(block.data()); }

/// Words that a stream may still read.
struct Retired {
  Block word;
  Event passed;
};

class Graveyard {
 public:
  static Graveyard& instance() {
    static auto* graveyard = new Graveyard;
    return *graveyard;
  }
  void add(Block word, Event passed) {
    const std::lock_guard lock(mutex_);
    retired_.push_back({std::move(word), std::move(passed)});
  }
  void sweep() {
    const std::lock_guard lock(mutex_);
    if (generation_ != runtime_generation()) retired_.clear();
    generation_ = runtime_generation();
    std::erase_if(retired_, [](const Retired& flag) {
      try {
        return flag.passed.is_complete();
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
    : word_(std::move(other.word_)),
      passed_(std::move(other.passed_)),
      is_closed_(std::exchange(other.is_closed_, false)) {}

Flag& Flag::operator=(Flag&& other) noexcept {
  if (this == &other) return *this;
  open();
  retire();
  word_ = std::move(other.word_);
  passed_ = std::move(other.passed_);
  is_closed_ = std::exchange(other.is_closed_, false);
  return *this;
}

void Flag::close(int device, StreamHandle stream) {
  open();
  retire();
  Graveyard::instance().sweep();
  Block word = Pool::of(MemoryKind::pinned, device).acquire(sizeof(std::uint32_t));
  std::atomic_ref(word_of(word)).store(0, std::memory_order_release);
  const Guard guard(device);
  required_runtime("a stream flag").wait_flag(stream, &word_of(word), 1);
  word_ = std::move(word);
  is_closed_ = true;
  closed.fetch_add(1, std::memory_order_acq_rel);
  passed_.record(device, stream);
}

void Flag::open() noexcept {
  if (!is_closed_) return;
  std::atomic_ref(word_of(word_)).store(1, std::memory_order_release);
  is_closed_ = false;
  closed.fetch_sub(1, std::memory_order_acq_rel);
}

void Flag::retire() noexcept {
  if (word_.data() == nullptr) return;
  try {
    Graveyard::instance().add(std::move(word_), std::move(passed_));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the word goes back early only without memory
  }
}

}  // namespace tutti::detail::device
