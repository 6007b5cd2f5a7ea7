// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/shared_memory.hpp"

namespace tutti::simulation {

// The number of a file returns only once nobody has it mapped.
void SharedMemory::map(int rank, const void* begin, std::size_t bytes, std::uint64_t file) {
  int segment = own;
  for (const auto& mappings : mappings_)
    for (const Mapping& mapping : mappings)
      if (mapping.file == file) segment = mapping.segment;
  if (segment == own) segment = ++last_segment_;
  mappings_[static_cast<std::size_t>(rank)].push_back({static_cast<const std::byte*>(begin), bytes, file, segment});
}

void SharedMemory::unmap(int rank, const void* begin) {
  std::erase_if(mappings_[static_cast<std::size_t>(rank)],
                [begin](const Mapping& mapping) { return mapping.begin == begin; });
}

Word SharedMemory::find(int rank, const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  for (const Mapping& mapping : mappings_[static_cast<std::size_t>(rank)])
    if (byte >= mapping.begin && byte < mapping.begin + mapping.bytes)
      return {mapping.segment, static_cast<std::size_t>(byte - mapping.begin)};
  return own_word(address);
}

}  // namespace tutti::simulation
