// SPDX-License-Identifier: BSD-3-Clause
#include "backends/list.hpp"

#include <tutti/error.hpp>
#include <vector>

#include "call/context.hpp"

namespace tutti::detail {
namespace {

std::vector<Backend*> numbered(std::vector<Backend*> all) {
  for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot]->slot = slot;
  return all;
}

// A backend may read the candidates of the backends before it. `native` is last, because its choice depends on the
// others.
std::vector<Backend*>& list() {
  static std::vector<Backend*> all =
      numbered({&shm_backend, &nccl_backend, &mpi_backend, &staged_backend, &native_backend});
  return all;
}

}  // namespace

std::span<Backend* const> backends() { return list(); }

void add_backend(Backend& backend) {
  std::vector<Backend*>& all = list();
  if (all.size() == Context::most_backends) throw Error(ErrorCode::internal, "no slot is left for another backend");
  backend.slot = all.size();
  all.push_back(&backend);
}

}  // namespace tutti::detail
