/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

/* The arrays of a call as the terms of C; sections are described by derived datatypes, which live as long as this. */
typedef struct {
  tutti_exact_terms_t terms;
  tutti_datatype_t layouts[3];
} arrays;
#define ARRAYS_INIT                                                                           \
  {                                                                                           \
    TUTTI_EXACT_TERMS_INIT, { TUTTI_DATATYPE_NULL, TUTTI_DATATYPE_NULL, TUTTI_DATATYPE_NULL } \
  }

/* Finds address, repetitions and datatype of one array. */
static int look_at(const char* call, const char* argument, const CFI_cdesc_t* array, const void** address,
                   size_t* count, tutti_datatype_t* datatype, tutti_datatype_t* layout) {
  if (descriptor_is_assumed_size(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument,
                             "is of assumed size; pass a section with bounds, x(1:n)");
  if (descriptor_is_absent(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument, DESCRIPTOR_ABSENT);
  *datatype = descriptor_datatype(array);
  if (*datatype == TUTTI_DATATYPE_NULL)
    return descriptor_refuse(TUTTI_ERROR_INVALID_DATATYPE, call, argument, "has a type without a Tutti datatype");
  *address = array->base_addr;
  *count = descriptor_elements(array);
  if (descriptor_is_contiguous(array)) return TUTTI_SUCCESS;
  if (descriptor_layout(array, layout))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument,
                             "has strides that are no multiples of its elements; pass a copy");
  *datatype = *layout;
  *count = 1;
  return TUTTI_SUCCESS;
}

static int open_arrays(const char* call, const CFI_cdesc_t* values, const CFI_cdesc_t* weights, const CFI_cdesc_t* mask,
                       arrays* all) {
  tutti_exact_terms_t* t = &all->terms;
  int code = look_at(call, "values", values, &t->values, &t->count, &t->datatype, &all->layouts[0]);
  if (!code && weights != NULL)
    code = look_at(call, "weights", weights, &t->weights, &t->weight_count, &t->weight_datatype, &all->layouts[1]);
  if (!code && mask != NULL)
    code = look_at(call, "mask", mask, &t->mask, &t->mask_count, &t->mask_datatype, &all->layouts[2]);
  return code;
}

static int close_arrays(arrays* all, int code) {
  for (int i = 0; i < 3; ++i)
    if (all->layouts[i] != TUTTI_DATATYPE_NULL) tutti_datatype_free(&all->layouts[i]);
  return code;
}

static int find_results(const char* call, const CFI_cdesc_t* results, void** address, size_t* fields,
                        tutti_datatype_t* datatype) {
  if (descriptor_is_absent(results))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "results", DESCRIPTOR_ABSENT);
  if (!descriptor_is_contiguous(results))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "results",
                             "is not contiguous; pass a contiguous array");
  *address = results->base_addr;
  *fields = descriptor_elements(results);
  *datatype = descriptor_datatype(results);
  return TUTTI_SUCCESS;
}

typedef int blocking_call(tutti_comm_t, const tutti_exact_terms_t*, void*, size_t, tutti_datatype_t,
                          const tutti_options_t*);
typedef int started_call(tutti_comm_t, const tutti_exact_terms_t*, void*, size_t, tutti_datatype_t,
                         const tutti_options_t*, tutti_request_t*);
static blocking_call* const blocking[] = {tutti_exact_sum, tutti_exact_norm2, tutti_exact_mean};
static started_call* const started[][2] = {{tutti_iexact_sum, tutti_exact_sum_init},
                                           {tutti_iexact_norm2, tutti_exact_norm2_init}};

int tutti_fortran_exact(const char* call, int operation, int form, tutti_comm_t comm, const CFI_cdesc_t* values,
                        const CFI_cdesc_t* results, const CFI_cdesc_t* weights, const CFI_cdesc_t* mask,
                        const tutti_options_t* options, tutti_request_t* request) {
  arrays all = ARRAYS_INIT;
  void* address = NULL;
  size_t fields = 0;
  tutti_datatype_t type = TUTTI_DATATYPE_NULL;
  int code = find_results(call, results, &address, &fields, &type);
  if (!code) code = open_arrays(call, values, weights, mask, &all);
  if (!code && form == 0) code = blocking[operation](comm, &all.terms, address, fields, type, options);
  if (!code && form > 0) code = started[operation][form - 1](comm, &all.terms, address, fields, type, options, request);
  return close_arrays(&all, code);
}

int tutti_fortran_exact_dot(const char* call, int form, tutti_comm_t comm, const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                            const CFI_cdesc_t* results, const CFI_cdesc_t* mask, const tutti_options_t* options,
                            tutti_request_t* request) {
  arrays all = ARRAYS_INIT;
  void* address = NULL;
  size_t fields = 0;
  tutti_datatype_t type = TUTTI_DATATYPE_NULL;
  if (!descriptor_is_contiguous(x) || !descriptor_is_contiguous(y))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "x or y",
                             "is not contiguous; pass contiguous arrays, or tutti_exact_sum with weights");
  if (descriptor_datatype(x) != descriptor_datatype(y) || descriptor_elements(x) != descriptor_elements(y))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "y", "has not the type, kind and size of x");
  int code = find_results(call, results, &address, &fields, &type);
  if (!code) code = open_arrays(call, x, NULL, mask, &all);
  if (!code && form == 0) code = tutti_exact_dot(comm, &all.terms, y->base_addr, address, fields, type, options);
  if (!code && form == 1)
    code = tutti_iexact_dot(comm, &all.terms, y->base_addr, address, fields, type, options, request);
  if (!code && form == 2)
    code = tutti_exact_dot_init(comm, &all.terms, y->base_addr, address, fields, type, options, request);
  return close_arrays(&all, code);
}

int tutti_fortran_exact_variance(tutti_comm_t comm, const CFI_cdesc_t* values, double* means, double* variances,
                                 size_t fields, const CFI_cdesc_t* weights, const CFI_cdesc_t* mask,
                                 const tutti_options_t* options) {
  arrays all = ARRAYS_INIT;
  int code = open_arrays("tutti_exact_variance", values, weights, mask, &all);
  if (!code) code = tutti_exact_variance(comm, &all.terms, means, variances, fields, options);
  return close_arrays(&all, code);
}

int tutti_fortran_exact_location(const char* call, int is_largest, tutti_comm_t comm, const CFI_cdesc_t* values,
                                 int64_t first_index, double* value, int64_t* index, const CFI_cdesc_t* mask,
                                 const tutti_options_t* options) {
  arrays all = ARRAYS_INIT;
  int code = open_arrays(call, values, NULL, mask, &all);
  if (!code)
    code = (is_largest ? tutti_exact_maxloc : tutti_exact_minloc)(comm, &all.terms, first_index, value, index, options);
  return close_arrays(&all, code);
}

int tutti_fortran_accumulate(tutti_accumulator_t* accumulator, const CFI_cdesc_t* values, const CFI_cdesc_t* weights,
                             const CFI_cdesc_t* mask) {
  arrays all = ARRAYS_INIT;
  int code = open_arrays("tutti_accumulator_add", values, weights, mask, &all);
  if (!code) code = tutti_accumulator_add(accumulator, &all.terms);
  return close_arrays(&all, code);
}

tutti_fint_t tutti_fortran_world(void) { return MPI_Comm_c2f(MPI_COMM_WORLD); }
