// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/calls.hpp"

#include <array>
#include <cstddef>

namespace tutti::detail::flight {
namespace {

template <typename Number, std::size_t n>
std::string_view name_of(const std::array<std::string_view, n>& names, Number number) {
  const auto i = static_cast<std::size_t>(number);
  return i < n ? names[i] : "unknown";
}

}  // namespace

std::string_view call_name(Call call) {
#define TUTTI_CALL(name, ...) #name,
  constexpr std::array<std::string_view, calls> names = {TUTTI_OPERATIONS(TUTTI_CALL)
                                                             TUTTI_NEIGHBOR_OPERATIONS(TUTTI_CALL) "send",
                                                         "recv",
                                                         "sendrecv",
                                                         "probe",
                                                         "group",
                                                         "alltoallw",
                                                         "make_communicator",
                                                         "free_communicator",
                                                         "finalize",
                                                         "split",
                                                         "allocate",
                                                         "prepare_device"};
#undef TUTTI_CALL
  return name_of(names, call);
}

std::string_view form_name(Form form) {
  constexpr std::array<std::string_view, 4> names = {"blocking", "nonblocking", "init", "start"};
  return name_of(names, form);
}

std::string_view state_name(State state) {
  constexpr std::array<std::string_view, 6> names = {"none", "running", "outstanding", "waiting", "done", "failed"};
  return name_of(names, state);
}

}  // namespace tutti::detail::flight
