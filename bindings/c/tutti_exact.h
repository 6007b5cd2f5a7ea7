/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_EXACT_H
#define TUTTI_TUTTI_EXACT_H

/// Sums that do not depend on the number of ranks: the part of the C interface that corresponds to tutti/exact.hpp,
/// whose documentation of types, special values, shapes and errors holds here too. tutti.h includes this header.
#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a rank contributes to sums. Initialise it with TUTTI_EXACT_TERMS_INIT. The datatypes may be derived ones, for
/// strides; the counts are then in repetitions. Counterpart: tutti::ExactTerms.
typedef struct tutti_exact_terms {
  size_t size;         ///< sizeof(tutti_exact_terms_t)
  int32_t version;     ///< TUTTI_EXACT_TERMS_VERSION
  int32_t reserved;    ///< 0
  const void* values;  ///< all fields, one after the other
  size_t count;        ///< of values, of all fields together
  tutti_datatype_t datatype;
  const void* weights;               ///< real factors of the precision of the values
  size_t weight_count;               ///< one a value, or those of one field, which all fields share
  tutti_datatype_t weight_datatype;  ///< TUTTI_DATATYPE_NULL: there are no weights, on all ranks
  const void* mask;                  ///< a value whose mask is zero is not in the sum
  size_t mask_count;                 ///< as weight_count
  tutti_datatype_t mask_datatype;    ///< of logical or integer type; TUTTI_DATATYPE_NULL: there is no mask
} tutti_exact_terms_t;
#define TUTTI_EXACT_TERMS_VERSION 1
#define TUTTI_EXACT_TERMS_INIT                                                                        \
  {                                                                                                   \
    sizeof(tutti_exact_terms_t), TUTTI_EXACT_TERMS_VERSION, 0, NULL, 0, TUTTI_DATATYPE_NULL, NULL, 0, \
        TUTTI_DATATYPE_NULL, NULL, 0, TUTTI_DATATYPE_NULL                                             \
  }

/// Sum each of `fields` fields over all ranks, without rounding, and round each sum once to `result_datatype`. The
/// results are contiguous. Collective over `comm`; blocking, nonblocking and persistent. The nonblocking form takes the
/// values before it returns. Counterparts: tutti::exact_sum, MPI_Allreduce of local sums, shr_reprosum_calc.
TUTTI_API int tutti_exact_sum(tutti_comm_t comm, const tutti_exact_terms_t* terms, void* sums, size_t fields,
                              tutti_datatype_t result_datatype, const tutti_options_t* options);
TUTTI_API int tutti_iexact_sum(tutti_comm_t comm, const tutti_exact_terms_t* terms, void* sums, size_t fields,
                               tutti_datatype_t result_datatype, const tutti_options_t* options,
                               tutti_request_t* request);
TUTTI_API int tutti_exact_sum_init(tutti_comm_t comm, const tutti_exact_terms_t* terms, void* sums, size_t fields,
                                   tutti_datatype_t result_datatype, const tutti_options_t* options,
                                   tutti_request_t* request);

/// The same of conj(x) * y; y has x's datatype and count, and x no weights. Counterparts: tutti::exact_dot, BLAS dot.
TUTTI_API int tutti_exact_dot(tutti_comm_t comm, const tutti_exact_terms_t* x, const void* y, void* dots, size_t fields,
                              tutti_datatype_t result_datatype, const tutti_options_t* options);
TUTTI_API int tutti_iexact_dot(tutti_comm_t comm, const tutti_exact_terms_t* x, const void* y, void* dots,
                               size_t fields, tutti_datatype_t result_datatype, const tutti_options_t* options,
                               tutti_request_t* request);
TUTTI_API int tutti_exact_dot_init(tutti_comm_t comm, const tutti_exact_terms_t* x, const void* y, void* dots,
                                   size_t fields, tutti_datatype_t result_datatype, const tutti_options_t* options,
                                   tutti_request_t* request);

/// The square root of the sum of |x|^2, rounded once; of real type. Counterparts: tutti::exact_norm2, BLAS nrm2.
TUTTI_API int tutti_exact_norm2(tutti_comm_t comm, const tutti_exact_terms_t* x, void* norms, size_t fields,
                                tutti_datatype_t result_datatype, const tutti_options_t* options);
TUTTI_API int tutti_iexact_norm2(tutti_comm_t comm, const tutti_exact_terms_t* x, void* norms, size_t fields,
                                 tutti_datatype_t result_datatype, const tutti_options_t* options,
                                 tutti_request_t* request);
TUTTI_API int tutti_exact_norm2_init(tutti_comm_t comm, const tutti_exact_terms_t* x, void* norms, size_t fields,
                                     tutti_datatype_t result_datatype, const tutti_options_t* options,
                                     tutti_request_t* request);

/// The mean of each field, by the weights if there are any. Collective over `comm`, blocking. Counterpart:
/// tutti::exact_mean.
TUTTI_API int tutti_exact_mean(tutti_comm_t comm, const tutti_exact_terms_t* terms, void* means, size_t fields,
                               tutti_datatype_t result_datatype, const tutti_options_t* options);

/// The means and the variances of the populations, in float64. Collective over `comm`, blocking. Counterpart:
/// tutti::exact_variance.
TUTTI_API int tutti_exact_variance(tutti_comm_t comm, const tutti_exact_terms_t* terms, double* means,
                                   double* variances, size_t fields, const tutti_options_t* options);

/// The smallest, or the largest, element of one field and its index in the distributed array, of which this rank's
/// first element has the index first_index; NaN and -1 if there is none. Collective over `comm`, blocking.
/// Counterparts: tutti::exact_minloc, exact_maxloc; MPI_MINLOC, MPI_MAXLOC.
TUTTI_API int tutti_exact_minloc(tutti_comm_t comm, const tutti_exact_terms_t* terms, int64_t first_index,
                                 double* value, int64_t* index, const tutti_options_t* options);
TUTTI_API int tutti_exact_maxloc(tutti_comm_t comm, const tutti_exact_terms_t* terms, int64_t first_index,
                                 double* value, int64_t* index, const tutti_options_t* options);

/// A sum that is not yet rounded. tutti_accumulator_clear makes the sum of no elements; zeros stand for it, too. Owns
/// nothing, and may be copied and sent as bytes. Counterpart: tutti::ExactSum.
typedef struct tutti_accumulator {
  int64_t state[140];
} tutti_accumulator_t;

/// Makes the sum of no elements. Local, as are the next three.
TUTTI_API int tutti_accumulator_clear(tutti_accumulator_t* accumulator);
/// Adds the elements of one field, of real type. Counterpart: ExactSum::add.
TUTTI_API int tutti_accumulator_add(tutti_accumulator_t* accumulator, const tutti_exact_terms_t* terms);
/// Adds what another accumulator holds.
TUTTI_API int tutti_accumulator_join(tutti_accumulator_t* accumulator, const tutti_accumulator_t* other);
/// Gives the sum, rounded to one of the real types. Counterpart: ExactSum::rounded.
TUTTI_API int tutti_accumulator_round(const tutti_accumulator_t* accumulator, tutti_datatype_t datatype,
                                      double* rounded);
/// Replaces each accumulator by the sum of those of all ranks. Collective over `comm`, blocking. Counterpart:
/// tutti::exact_allreduce.
TUTTI_API int tutti_accumulator_allreduce(tutti_comm_t comm, tutti_accumulator_t* accumulators, size_t count,
                                          const tutti_options_t* options);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_EXACT_H */
