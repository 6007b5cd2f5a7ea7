// SPDX-License-Identifier: BSD-3-Clause
#include "core/kernel_number.hpp"

#include <cstdio>
#include <string_view>

#include "core/hash.hpp"

namespace tutti::detail {

std::uint64_t kernel_number() {
  char id[64] = {};
  std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == nullptr) return 0;
  const std::size_t length = std::fread(id, 1, sizeof id, file);
  (void)std::fclose(file);
  return length == 0 ? 0 : Hash().add(std::string_view(id, length)).value() | 1U;
}

}  // namespace tutti::detail
