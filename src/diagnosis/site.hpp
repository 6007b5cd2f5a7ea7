// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tutti::detail {

/// The place of a call in the program: as the program gave it, or the return addresses of its frames. Texts are the
/// program's, or valid until the thread's next set_site().
struct CallSite {
  static constexpr std::size_t most_frames = 12;
  const char* function = nullptr;
  const char* file = nullptr;
  int line = 0;
  const void* address = nullptr;  ///< in the first frame outside of the library, if there is no file
  /// The frames from there outwards. Where the library is a part of the program, its own frames are among them.
  std::array<const void*, most_frames> frames{};
  std::size_t frame_count = 0;
};

/// A site as ranks send it to one another.
struct SiteRecord {
  std::int32_t line = 0;
  std::int32_t frame_count = 0;  ///< 0: `place` is a source file, or empty
  std::array<char, 40> function{};
  std::array<char, 152> place{};                               ///< the end of the path of the source file or module
  std::array<std::uint64_t, CallSite::most_frames> offsets{};  ///< of the frames' addresses in the module
};

/// Whether anybody takes sites; if not, set_site() does nothing.
void want_sites() noexcept;

/// Sets the site of this thread's next call. The texts are copied.
void set_site(const char* file, int line, const char* function) noexcept;

/// The site of the call that is being made: the one that was set for it, or else the stack's. Forgets the former.
[[nodiscard]] CallSite take_site() noexcept;

/// Whether this is libtutti-mpi, whose communicators live as long as the program's own.
[[nodiscard]] bool is_in_preload_library() noexcept;

/// A site that other processes can read. Addresses are looked up once.
[[nodiscard]] SiteRecord record_of(const CallSite& site) noexcept;

/// "at heat.c:41 in step()", or "at heat+0x11f3" where no more is known; empty if nothing is. Reads addresses by
/// addr2line, in a process of its own, so call it for messages only.
[[nodiscard]] std::string words(const SiteRecord& site);

/// A text and the words of a site, if they say anything: "bcast() at heat.c:41".
[[nodiscard]] inline std::string with_place(std::string text, const std::string& place) {
  return place.empty() ? std::move(text) : std::move(text) + ' ' + place;
}

/// Sets the address and the frames of a site from this thread's stack, from the first frame outside of the library on.
/// To unwind takes a microsecond or more, so the last walks of a thread are remembered: one whose return addresses all
/// lie where they lay then is the same one.
void note_frames(CallSite& site) noexcept;

}  // namespace tutti::detail
