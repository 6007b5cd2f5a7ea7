// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/peer_memory.hpp"

#include <unistd.h>

#include <mutex>
#include <unordered_map>

namespace tutti::detail::shm {

/// The right to attach the memory of a segment. Attachments hold it, because its release detaches them all.
class PeerMemory::Permit {
 public:
  Permit(const Xpmem& library, std::int64_t id) : library_(&library), id_(id) {}
  ~Permit() { library_->release(id_); }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  [[nodiscard]] std::byte* attach(std::uint64_t begin, std::size_t bytes) const {
    void* here = library_->attach({id_, static_cast<off_t>(begin)}, bytes, nullptr);
    const auto failed = reinterpret_cast<void*>(std::intptr_t{-1});  // NOLINT(performance-no-int-to-ptr)
    return here == failed ? nullptr : static_cast<std::byte*>(here);
  }
  void detach(std::byte* here) const { library_->detach(here); }

 private:
  const Xpmem* library_;
  std::int64_t id_;
};

PeerMemory::PeerMemory(pid_t process, const std::shared_ptr<const Permit>& permit)
    : ranges_({[permit](std::uint64_t begin, std::size_t bytes) { return permit->attach(begin, bytes); },
               [permit](std::byte* here) { permit->detach(here); },
               [process](std::uint64_t address, std::size_t bytes) { return !is_missing(process, address, bytes); }},
              static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}

std::shared_ptr<PeerMemory> PeerMemory::of(pid_t process, std::int64_t segment) {
  // Never destroyed, because communicators of static objects may end after the statics of this file.
  static auto* all = new std::unordered_map<std::int64_t, std::weak_ptr<PeerMemory>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::weak_ptr<PeerMemory>& known = (*all)[segment];
  if (auto found = known.lock()) return found;
  std::string why;
  const Xpmem* library = xpmem(why);
  if (library == nullptr) return nullptr;
  const std::int64_t id = library->get(segment, Xpmem::read_write, Xpmem::permit_mode, nullptr);
  if (id <= 0) return nullptr;
  std::shared_ptr<PeerMemory> made(new PeerMemory(process, std::make_shared<const Permit>(*library, id)));
  known = made;
  return made;
}

}  // namespace tutti::detail::shm
