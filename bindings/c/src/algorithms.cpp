// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/algorithms.hpp>

#include "guard.hpp"
#include "handles.hpp"
#include "structs.hpp"

using namespace tutti::c;

namespace {

tutti::CallForm form_of(int form) {
  if (form < TUTTI_CALL_BLOCKING || form > TUTTI_CALL_PERSISTENT)
    throw_misuse(tutti::ErrorCode::invalid_argument,
                 fmt::format("argument form is {}; pass one of TUTTI_CALL_BLOCKING, ...", form));
  return static_cast<tutti::CallForm>(form);
}

}  // namespace

int tutti_comm_algorithms(tutti_comm_t comm, const char* operation, int form, size_t count, tutti_datatype_t type,
                          tutti_op_t op, const tutti_options_t* given, char* text, size_t capacity, size_t* length) {
  return guard([&] {
    const tutti::Options values = options(given);
    tutti::CallFacts facts{form_of(form), values.memory, datatype(type)};
    if (op != TUTTI_OP_NULL) facts.op = tutti::c::operation(op).op.kind();
    facts.count = count;
    facts.accumulation = values.accumulation;
    std::string names;
    for (const auto& one : tutti::algorithms(communicator(comm), operation == nullptr ? "" : operation, facts))
      if (one.can_be_named) names += one.name + "\n";
    give_text(names, text, capacity, length);
  });
}
