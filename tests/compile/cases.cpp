// SPDX-License-Identifier: BSD-3-Clause
// One program per TUTTI_CASE_...; CMakeLists.txt has the text that each must give.
// Before all others, because CMakeLists.txt has it precompiled.
#include <tutti/tutti.hpp>

#include <list>
#include <string>
#include <vector>

struct Named {
  std::string name;
};
#ifdef TUTTI_CASE_STRUCT_WITH_POINTERS
template <>
struct tutti::DatatypeOf<Named> : tutti::BytesOf<Named> {};
#endif

void calls(const tutti::Communicator& comm) {
  std::vector<double> x(4);
  const std::vector<double> constant(4);
  const std::vector<std::size_t> sizes(2);
  std::list<int> list;
  std::vector<bool> bits(4);
  std::vector<long double> wide(4);
  std::vector<Named> names(4);
#ifdef TUTTI_CASE_RIGHT
  tutti::Request named = tutti::iallreduce(comm, constant, x, tutti::sum);
  tutti::Request view = tutti::ibcast(comm, std::span(x), 0);
  tutti::Request counted = tutti::ialltoallv(comm, constant, std::vector<int>(2), std::vector<std::size_t>(2), x, sizes,
                                             std::vector<long>(2));
  tutti::allgather(comm, std::vector<double>(2), x);
#endif
#ifdef TUTTI_CASE_TEMPORARY_SEND
  tutti::Request request = tutti::iallreduce(comm, std::vector<double>(4), x, tutti::sum);
#endif
#ifdef TUTTI_CASE_TEMPORARY_MESSAGE
  tutti::Request request = tutti::isend(comm, std::vector<double>(4), 0);
#endif
#ifdef TUTTI_CASE_TEMPORARY_IN_V_FORM
  tutti::Request request = tutti::alltoallv_init(comm, x, sizes, sizes, std::vector<double>(4), sizes, sizes);
#endif
#ifdef TUTTI_CASE_CONSTANT_RESULT
  tutti::allreduce(comm, x, constant, tutti::sum);
#endif
#ifdef TUTTI_CASE_LIST
  tutti::bcast(comm, list, 0);
#endif
#ifdef TUTTI_CASE_VECTOR_OF_BOOL
  tutti::allreduce(comm, bits, tutti::lor);
#endif
#ifdef TUTTI_CASE_UNKNOWN_TYPE
  tutti::allreduce(comm, wide, tutti::sum);
#endif
#ifdef TUTTI_CASE_STRUCT_WITH_POINTERS
  tutti::bcast(comm, names, 0);
#endif
}
