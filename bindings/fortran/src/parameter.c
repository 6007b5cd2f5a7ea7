/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

/* Whether the library may keep the address of an array. */
static int look_at(const char* call, const char* argument, const CFI_cdesc_t* array) {
  if (descriptor_is_assumed_size(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument,
                             "is of assumed size; pass a section with bounds, x(1:n)");
  if (descriptor_is_absent(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument, DESCRIPTOR_ABSENT);
  if (!descriptor_is_contiguous(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument,
                             "is not contiguous; pass a contiguous array");
  const tutti_datatype_t datatype = descriptor_datatype(array);
  if (datatype == TUTTI_DATATYPE_NULL || datatype == TUTTI_BYTE)
    return descriptor_refuse(TUTTI_ERROR_INVALID_DATATYPE, call, argument,
                             "has a type without a Tutti datatype; pass reals");
  return TUTTI_SUCCESS;
}

static int is_alike(const CFI_cdesc_t* a, const CFI_cdesc_t* b) {
  if (a->rank != b->rank || descriptor_datatype(a) != descriptor_datatype(b)) return 0;
  for (int d = 0; d < a->rank; ++d)
    if (a->dim[d].extent != b->dim[d].extent) return 0;
  return 1;
}

int tutti_fortran_add(tutti_reducer_t reducer, const char* name, const CFI_cdesc_t* value, const CFI_cdesc_t* gradient,
                      size_t* index) {
  static const char* const call = "tutti_reducer_add";
  int code = look_at(call, "value", value);
  if (!code && gradient != NULL) code = look_at(call, "gradient", gradient);
  if (code) return code;
  if (gradient != NULL && !is_alike(value, gradient))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "gradient",
                             "has another type or shape than value; make them alike");
  size_t shape[CFI_MAX_RANK];
  for (int d = 0; d < value->rank; ++d) shape[d] = (size_t)value->dim[value->rank - 1 - d].extent;
  return tutti_reducer_add(reducer, name, value->base_addr, gradient != NULL ? gradient->base_addr : NULL, shape,
                           (size_t)value->rank, descriptor_datatype(value), index);
}

int tutti_fortran_dense_step(const tutti_dense_update_t* update, int64_t step, const CFI_cdesc_t* parameters,
                             const CFI_cdesc_t* gradients, const CFI_cdesc_t* state) {
  static const char* const call = "tutti_dense_step";
  size_t values = 0;
  int code = look_at(call, "parameters", parameters);
  if (!code) code = look_at(call, "gradients", gradients);
  if (!code) code = look_at(call, "state", state);
  if (!code) code = tutti_dense_state_values(update, &values);
  if (code) return code;
  if (!is_alike(parameters, gradients))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, "gradients",
                             "has another type or shape than parameters; make them alike");
  const size_t count = descriptor_elements(parameters);
  const int fits = descriptor_elements(state) >= values * count;
  if (!fits || (values > 0 && descriptor_datatype(state) != descriptor_datatype(parameters)))
    return descriptor_refuse(
        TUTTI_ERROR_INVALID_ARGUMENT, call, "state",
        "has another type than parameters, or fewer elements than tutti_dense_state_values times theirs; "
        "allocate it so");
  return tutti_dense_step(update, (uint64_t)step, parameters->base_addr, gradients->base_addr, state->base_addr, count,
                          descriptor_datatype(parameters));
}
