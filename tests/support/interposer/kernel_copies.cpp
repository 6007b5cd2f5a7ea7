// SPDX-License-Identifier: BSD-3-Clause
#include <sys/uio.h>

#include <cerrno>

#include "support/interposer/settings.hpp"

namespace tutti::test::interposer {
namespace {

/// The wait of a copy. Returns false if it is refused.
bool is_let_through(const iovec* local, unsigned long pieces) {
  count(Call::kernel_copy);
  if (settings().kernel_copy_refused) {
    errno = EPERM;
    return false;
  }
  std::uint64_t bytes = 0;
  for (unsigned long i = 0; i < pieces; ++i) bytes += local[i].iov_len;
  wait_ns(settings().kernel_copy_ns + bytes * settings().kernel_copy_ns_per_kib / 1024);
  return true;
}

}  // namespace
}  // namespace tutti::test::interposer

using namespace tutti::test::interposer;

extern "C" ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_pieces, const iovec* remote,
                                    unsigned long remote_pieces, unsigned long flags) noexcept {
  static const auto real = next<decltype(process_vm_readv)>("process_vm_readv");
  return is_let_through(local, local_pieces) ? real(process, local, local_pieces, remote, remote_pieces, flags) : -1;
}

extern "C" ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long local_pieces, const iovec* remote,
                                     unsigned long remote_pieces, unsigned long flags) noexcept {
  static const auto real = next<decltype(process_vm_writev)>("process_vm_writev");
  return is_let_through(local, local_pieces) ? real(process, local, local_pieces, remote, remote_pieces, flags) : -1;
}
