// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/exact.hpp>

#include "handles.hpp"
#include "structs.hpp"

using namespace tutti::c;
using tutti::Buffer;
using tutti::ConstBuffer;
using tutti::ExactSum;
using tutti::ExactTerms;

static_assert(sizeof(ExactSum) == sizeof(tutti_accumulator_t) && alignof(ExactSum) <= alignof(tutti_accumulator_t));

namespace {

/// The caller's terms, and what a call needs of them beside.
struct GivenTerms {
  GivenTerms(const tutti_exact_terms_t* given, const char* argument) {
    if (given == nullptr) throw_null(argument, "pass the address of a struct");
    values = read_struct(given, tutti_exact_terms_t TUTTI_EXACT_TERMS_INIT, TUTTI_EXACT_TERMS_VERSION, argument,
                         "TUTTI_EXACT_TERMS_INIT");
    terms = ExactTerms(sent(values.values, values.count, values.datatype));
    if (values.weight_datatype != TUTTI_DATATYPE_NULL)
      terms.weights = sent(values.weights, values.weight_count, values.weight_datatype, "weight_datatype");
    if (values.mask_datatype != TUTTI_DATATYPE_NULL)
      terms.mask = sent(values.mask, values.mask_count, values.mask_datatype, "mask_datatype");
  }
  /// Another buffer like the values.
  [[nodiscard]] ConstBuffer like(const void* address) const { return sent(address, values.count, values.datatype); }

  tutti_exact_terms_t values;
  ExactTerms terms;
};

Buffer results(void* address, size_t fields, tutti_datatype_t type) {
  return received(address, fields, type, "result_datatype");
}

/// Calls `make` with the communicator and the options.
template <typename Make>
int blocking(tutti_comm_t comm, const tutti_options_t* given, const Make& make) {
  return guard([&] { make(communicator(comm), GivenOptions(given)); });
}
template <typename Make>
int with_request(tutti_comm_t comm, const tutti_options_t* given, tutti_request_t* request, const Make& make) {
  return guard([&] { start(request, [&] { return make(communicator(comm), GivenOptions(given)); }); });
}

ExactSum& sum_of(tutti_accumulator_t* accumulator, const char* argument) {
  return reinterpret_cast<ExactSum&>(output(accumulator, argument));
}
const ExactSum& sum_of(const tutti_accumulator_t* accumulator, const char* argument) {
  return reinterpret_cast<const ExactSum&>(output(accumulator, argument));
}

using Location = tutti::Float64Int64 (*)(const tutti::Communicator&, const ExactTerms&, int64_t, const tutti::Options&);

int locate(Location location, tutti_comm_t comm, const tutti_exact_terms_t* terms, int64_t first_index, double* value,
           int64_t* index, const tutti_options_t* options) {
  return blocking(comm, options, [&](const auto& c, const tutti::Options& o) {
    double& value_place = output(value, "value");
    int64_t& index_place = output(index, "index");
    const tutti::Float64Int64 found = location(c, GivenTerms(terms, "terms").terms, first_index, o);
    value_place = found.value;
    index_place = found.index;
  });
}

}  // namespace

#define TUTTI_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define TUTTI_EXACT_CALL(word, given_terms, ...)        \
  [&](const auto& c, const tutti::Options& o) {         \
    const GivenTerms given(given_terms, #given_terms);  \
    return tutti::word(c, given.terms, __VA_ARGS__, o); \
  }
/// Defines tutti_<word> and its forms with a request. parameters: those between comm and options, in parentheses, among
/// them the terms. The rest: the arguments of C++ between the terms and the options.
#define TUTTI_EXACT_FORMS(word, parameters, terms, ...)                                                            \
  int tutti_##word(tutti_comm_t comm, TUTTI_WITHOUT_PARENTHESES parameters, const tutti_options_t* options) {      \
    return blocking(comm, options, TUTTI_EXACT_CALL(word, terms, __VA_ARGS__));                                    \
  }                                                                                                                \
  int tutti_i##word(tutti_comm_t comm, TUTTI_WITHOUT_PARENTHESES parameters, const tutti_options_t* options,       \
                    tutti_request_t* request) {                                                                    \
    return with_request(comm, options, request, TUTTI_EXACT_CALL(i##word, terms, __VA_ARGS__));                    \
  }                                                                                                                \
  int tutti_##word##_init(tutti_comm_t comm, TUTTI_WITHOUT_PARENTHESES parameters, const tutti_options_t* options, \
                          tutti_request_t* request) {                                                              \
    return with_request(comm, options, request, TUTTI_EXACT_CALL(word##_init, terms, __VA_ARGS__));                \
  }

TUTTI_EXACT_FORMS(exact_sum,
                  (const tutti_exact_terms_t* terms, void* sums, size_t fields, tutti_datatype_t result_datatype),
                  terms, results(sums, fields, result_datatype))

TUTTI_EXACT_FORMS(exact_dot,
                  (const tutti_exact_terms_t* x, const void* y, void* dots, size_t fields,
                   tutti_datatype_t result_datatype),
                  x, given.like(y), results(dots, fields, result_datatype))

TUTTI_EXACT_FORMS(exact_norm2,
                  (const tutti_exact_terms_t* x, void* norms, size_t fields, tutti_datatype_t result_datatype), x,
                  results(norms, fields, result_datatype))

int tutti_exact_mean(tutti_comm_t comm, const tutti_exact_terms_t* terms, void* means, size_t fields,
                     tutti_datatype_t result_datatype, const tutti_options_t* options) {
  return blocking(comm, options, [&](const auto& c, const tutti::Options& o) {
    tutti::exact_mean(c, GivenTerms(terms, "terms").terms, results(means, fields, result_datatype), o);
  });
}

int tutti_exact_variance(tutti_comm_t comm, const tutti_exact_terms_t* terms, double* means, double* variances,
                         size_t fields, const tutti_options_t* options) {
  return blocking(comm, options, [&](const auto& c, const tutti::Options& o) {
    tutti::exact_variance(c, GivenTerms(terms, "terms").terms, Buffer(means, fields), Buffer(variances, fields), o);
  });
}

int tutti_exact_minloc(tutti_comm_t comm, const tutti_exact_terms_t* terms, int64_t first_index, double* value,
                       int64_t* index, const tutti_options_t* options) {
  return locate(tutti::exact_minloc, comm, terms, first_index, value, index, options);
}
int tutti_exact_maxloc(tutti_comm_t comm, const tutti_exact_terms_t* terms, int64_t first_index, double* value,
                       int64_t* index, const tutti_options_t* options) {
  return locate(tutti::exact_maxloc, comm, terms, first_index, value, index, options);
}

int tutti_accumulator_clear(tutti_accumulator_t* accumulator) {
  return guard([&] { sum_of(accumulator, "accumulator") = ExactSum(); });
}
int tutti_accumulator_add(tutti_accumulator_t* accumulator, const tutti_exact_terms_t* terms) {
  return guard([&] { sum_of(accumulator, "accumulator").add(GivenTerms(terms, "terms").terms); });
}
int tutti_accumulator_join(tutti_accumulator_t* accumulator, const tutti_accumulator_t* other) {
  return guard([&] { sum_of(accumulator, "accumulator").add(sum_of(other, "other")); });
}
int tutti_accumulator_round(const tutti_accumulator_t* accumulator, tutti_datatype_t type, double* rounded) {
  return guard([&] {
    double& place = output(rounded, "rounded");
    place = sum_of(accumulator, "accumulator").rounded(datatype(type).kind());
  });
}
int tutti_accumulator_allreduce(tutti_comm_t comm, tutti_accumulator_t* accumulators, size_t count,
                                const tutti_options_t* options) {
  return blocking(comm, options, [&](const auto& c, const tutti::Options& o) {
    if (count > 0) tutti::exact_allreduce(c, {&sum_of(accumulators, "accumulators"), count}, o);
    if (count == 0) tutti::exact_allreduce(c, {}, o);
  });
}
