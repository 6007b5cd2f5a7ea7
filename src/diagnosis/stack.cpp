// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/site.hpp"

#include <unwind.h>

#include <algorithm>
#include <span>

#include "diagnosis/own_modules.hpp"

namespace tutti::detail {
namespace {

/// Frames of the program behind the library's: inline functions of the headers may be the first.
constexpr std::size_t frames_beside = 2;

/// A word of the stack that holds a return address.
struct ReturnAddress {
  const std::uintptr_t* place;
  std::uintptr_t value;
};

struct StackWalk {
  CallSite site{};
  std::array<ReturnAddress, 16> slots{};  ///< from the innermost frame on
  std::size_t slot_count = 0;
  bool can_be_kept = true;
};

/// Where x86 pushes the return address: below the stack pointer of the frame that it leads to. On processors that have
/// it in a register it lies elsewhere, and the walk is not kept.
const std::uintptr_t* place_of_return_address(_Unwind_Context* frame) noexcept {
  return reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(frame)) - 1;
}

// The words belong to other functions, and a sanitizer may have forbidden some of them since.
__attribute__((no_sanitize("address"))) std::uintptr_t word_at(const std::uintptr_t* place) noexcept { return *place; }

class StackWalker {
 public:
  StackWalker(StackWalk& walk, std::uintptr_t begin) : walk_(walk), begin_(begin) {}

  void run() noexcept { _Unwind_Backtrace(note, this); }

 private:
  static _Unwind_Reason_Code note(_Unwind_Context* frame, void* walker) {
    return static_cast<StackWalker*>(walker)->note(frame) ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  bool note(_Unwind_Context* frame) {
    const std::uintptr_t after = _Unwind_GetIP(frame);
    if (after == 0) return false;
    const std::uintptr_t* const place = place_of_return_address(frame);
    if (reinterpret_cast<std::uintptr_t>(place) < begin_) return true;  // of the walk itself
    note_slot(place, after);
    const std::uintptr_t address = after - 1;  // within the call
    if (own_modules().contain(address)) return true;
    CallSite& site = walk_.site;
    site.frames[site.frame_count++] = reinterpret_cast<const void*>(address);
    return site.frame_count != wanted_;
  }
  void note_slot(const std::uintptr_t* place, std::uintptr_t value) noexcept {
    if (walk_.slot_count == walk_.slots.size() || word_at(place) != value)
      walk_.can_be_kept = false;
    else
      walk_.slots[walk_.slot_count++] = {place, value};
  }

  StackWalk& walk_;
  std::uintptr_t begin_;
  std::size_t wanted_ = own_modules().in_program() ? CallSite::most_frames : frames_beside;
};

/// The last walks of a thread, by the address of the frame where they began.
class KnownWalks {
 public:
  const CallSite& site_from(std::uintptr_t begin) noexcept {
    for (std::size_t i = 0; i < begins_.size(); ++i)
      if (begins_[i] == begin && is_as_before(walks_[i])) return walks_[i].site;
    const std::size_t at = next_++ % walks_.size();
    walks_[at] = {};
    StackWalker(walks_[at], begin).run();
    begins_[at] = walks_[at].can_be_kept && walks_[at].slot_count > 0 ? begin : 0;
    return walks_[at].site;
  }

 private:
  // From the outermost frame on: calls from different places differ there.
  static bool is_as_before(const StackWalk& walk) noexcept {
    const auto slots = std::span(walk.slots).first(walk.slot_count);
    return std::all_of(slots.rbegin(), slots.rend(),
                       [](const ReturnAddress& slot) { return word_at(slot.place) == slot.value; });
  }

  std::array<std::uintptr_t, 16> begins_{};
  std::array<StackWalk, 16> walks_{};
  std::size_t next_ = 0;
};

}  // namespace

__attribute__((noinline)) void note_frames(CallSite& site) noexcept {
  thread_local KnownWalks walks;
  const CallSite& found = walks.site_from(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  site.frames = found.frames;
  site.frame_count = found.frame_count;
  site.address = found.frame_count > 0 ? found.frames[0] : nullptr;
}

}  // namespace tutti::detail
