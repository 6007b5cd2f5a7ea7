// SPDX-License-Identifier: BSD-3-Clause
#include "training/checkpoint/increment.hpp"

#include <tutti/error.hpp>

#include "training/checkpoint/format.hpp"

namespace tutti::detail::checkpoint {

void find_base(const std::filesystem::path& folder, Increment& increment) {
  const auto manifest = find_manifest(folder);
  if (!manifest) return;
  std::uint64_t full = 0;
  std::uint64_t increments = 0;
  try {
    for (const Generation& generation : manifest->generations) {
      (&generation == manifest->generations.data() ? full : increments) += generation_bytes(folder, generation);
    }
  } catch (const Error&) {  // a file is gone
    return;
  }
  if (increments >= full) return;
  increment.base = manifest->identity();
  increment.number = next_generation(manifest);
}

}  // namespace tutti::detail::checkpoint
