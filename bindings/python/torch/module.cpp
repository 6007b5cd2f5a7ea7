// SPDX-License-Identifier: BSD-3-Clause
// The extension module tutti._torch.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <array>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "backend.hpp"
#include "world.hpp"

namespace py = pybind11;

namespace tutti::process_group {
namespace {

c10::intrusive_ptr<c10d::Backend> create(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                         std::chrono::milliseconds timeout, const std::vector<int>& ranks,
                                         const std::string& name) {
  check_threads();
  int world_size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (ranks.empty() || (size == world_size && static_cast<int>(ranks.size()) == size)) {
    check_world(rank, size);
    return c10::make_intrusive<Backend>(store, MPI_COMM_WORLD, timeout, name);
  }
  const Subgroup group(MPI_COMM_WORLD, ranks, name);
  return c10::make_intrusive<Backend>(store, group.handle(), timeout, name);
}

py::tuple world() {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return py::make_tuple(rank, size);
}

/// Gives all ranks rank 0's text.
std::string share(const std::string& text) {
  std::array<char, 1024> bytes{};
  TORCH_CHECK(text.size() < bytes.size(), "tutti: the text is too long to share");
  std::copy(text.begin(), text.end(), bytes.begin());
  MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return bytes.data();
}

}  // namespace
}  // namespace tutti::process_group

PYBIND11_MODULE(_torch, module) {
  using namespace tutti::process_group;
  py::module_::import("torch.distributed");
  module.def("create", &create, py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"),
             py::arg("ranks"), py::arg("name"), py::call_guard<py::gil_scoped_release>());
  module.def("world", &world);
  module.def("share", &share, py::call_guard<py::gil_scoped_release>());
}
