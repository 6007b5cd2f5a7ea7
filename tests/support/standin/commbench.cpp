// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/commbench.hpp"

#include <bit>
#include <type_traits>

#include "commbench/nccl_table.hpp"

namespace tutti::standin {

namespace {

using commbench::NcclComm;
using commbench::NcclResult;
using commbench::NcclTable;
using commbench::NcclUniqueId;
using detail::nccl::Table;

const Table* table = nullptr;

/// The same value of the other interface's type.
template <typename To, typename From>
To as(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (std::is_pointer_v<From>)
    return reinterpret_cast<To>(value);
  else
    return static_cast<To>(value);
}

/// A function of the stand-in's table with the types of commbench's.
template <auto member, typename Ours, typename Theirs>
struct Forward;
template <auto member, typename R, typename... Ours, typename Result, typename... Theirs>
struct Forward<member, R (*)(Ours...), Result (*)(Theirs...)> {
  static R call(Ours... arguments) { return as<R>((table->*member)(as<Theirs>(arguments)...)); }
};

template <auto member, typename R, typename... Ours>
void forward(R (*&ours)(Ours...)) {
  ours = &Forward<member, R (*)(Ours...), std::remove_cvref_t<decltype(table->*member)>>::call;
}

/// The stand-in has the library's form only, which does not block.
NcclResult init_rank(NcclComm* comm, int ranks, NcclUniqueId id, int rank) {
  detail::nccl::Config config;
  config.blocking = 0;
  auto result = table->comm_init_rank_config(comm, ranks, std::bit_cast<detail::nccl::UniqueId>(id), rank, &config);
  while (result == detail::nccl::Result::in_progress) (void)table->comm_get_async_error(*comm, &result);
  return static_cast<NcclResult>(result);
}

NcclTable made_table() {
  NcclTable made;
  forward<&Table::get_unique_id>(made.get_unique_id);
  made.comm_init_rank = &init_rank;
  forward<&Table::comm_destroy>(made.comm_destroy);
  forward<&Table::comm_get_async_error>(made.comm_get_async_error);
  forward<&Table::get_error_string>(made.get_error_string);
  forward<&Table::group_start>(made.group_start);
  forward<&Table::group_end>(made.group_end);
  forward<&Table::send>(made.send);
  forward<&Table::recv>(made.recv);
  forward<&Table::all_reduce>(made.all_reduce);
  forward<&Table::reduce>(made.reduce);
  forward<&Table::broadcast>(made.broadcast);
  forward<&Table::all_gather>(made.all_gather);
  forward<&Table::reduce_scatter>(made.reduce_scatter);
  return made;
}

}  // namespace

void install_for_commbench(const Nccl& nccl) {
  table = &nccl.table();
  static const NcclTable made = made_table();
  commbench::replace_nccl_table(&made);
}

}  // namespace tutti::standin
