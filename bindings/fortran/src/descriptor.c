/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "view.h"

static tutti_datatype_t logical_of(size_t bytes) {
  switch (bytes) {
    case 1:
      return TUTTI_LOGICAL8;
    case 2:
      return TUTTI_LOGICAL16;
    case 4:
      return TUTTI_LOGICAL32;
    case 8:
      return TUTTI_LOGICAL64;
    default:
      return TUTTI_DATATYPE_NULL;
  }
}

static int is_logical(const CFI_cdesc_t* array) {
#ifdef CFI_type_mask
  /* gfortran: the low bits are the type, those above are its kind. */
  return (array->type & CFI_type_mask) == (CFI_type_Bool & CFI_type_mask);
#else
  return array->type == CFI_type_Bool;
#endif
}

/* Characters move as bytes, so that strings of different lengths fit together. */
static int is_character(const CFI_cdesc_t* array) {
#ifdef CFI_type_mask
  return (array->type & CFI_type_mask) == (CFI_type_char & CFI_type_mask);
#else
  return array->type == CFI_type_char;
#endif
}

tutti_datatype_t descriptor_datatype(const CFI_cdesc_t* array) {
  if (is_logical(array)) return logical_of(array->elem_len);
  if (is_character(array)) return TUTTI_BYTE;
  if (array->type == CFI_type_int8_t) return TUTTI_INT8;
  if (array->type == CFI_type_int16_t) return TUTTI_INT16;
  if (array->type == CFI_type_int32_t) return TUTTI_INT32;
  if (array->type == CFI_type_int64_t) return TUTTI_INT64;
  if (array->type == CFI_type_float) return TUTTI_FLOAT32;
  if (array->type == CFI_type_double) return TUTTI_FLOAT64;
  if (array->type == CFI_type_float_Complex) return TUTTI_COMPLEX64;
  if (array->type == CFI_type_double_Complex) return TUTTI_COMPLEX128;
  return TUTTI_DATATYPE_NULL;
}

int descriptor_is_assumed_size(const CFI_cdesc_t* array) {
  return array->rank > 0 && array->dim[array->rank - 1].extent == -1;
}

/* The number of array elements. */
static size_t size_of(const CFI_cdesc_t* array) {
  size_t elements = 1;
  for (int d = 0; d < array->rank; ++d) elements *= (size_t)array->dim[d].extent;
  return elements;
}

int descriptor_is_absent(const CFI_cdesc_t* array) { return array->base_addr == NULL && size_of(array) > 0; }

size_t descriptor_elements(const CFI_cdesc_t* array) {
  return size_of(array) * (is_character(array) ? array->elem_len : 1);
}

size_t descriptor_bytes(const CFI_cdesc_t* array) { return size_of(array) * array->elem_len; }

int descriptor_is_contiguous(const CFI_cdesc_t* array) {
  size_t stride = array->elem_len;
  if (size_of(array) <= 1) return 1;
  for (int d = 0; d < array->rank; ++d) {
    if (array->dim[d].extent > 1 && array->dim[d].sm != (CFI_index_t)stride) return 0;
    stride *= (size_t)array->dim[d].extent;
  }
  return 1;
}

int descriptor_layout(const CFI_cdesc_t* array, tutti_datatype_t* layout) {
  size_t extents[CFI_MAX_RANK + 1];
  ptrdiff_t strides[CFI_MAX_RANK + 1];
  const ptrdiff_t unit = is_character(array) ? 1 : (ptrdiff_t)array->elem_len;
  size_t n = 0;
  for (int d = array->rank - 1; d >= 0; --d, ++n) {
    if (array->dim[d].sm % unit != 0) return TUTTI_ERROR_INVALID_ARGUMENT;
    extents[n] = (size_t)array->dim[d].extent;
    strides[n] = array->dim[d].sm / unit;
  }
  if (is_character(array)) {
    extents[n] = array->elem_len;
    strides[n++] = 1;
  }
  return tutti_datatype_strided(n, extents, strides, descriptor_datatype(array), layout);
}

/* The address of the next element in array element order; `index` starts as zeros. */
static char* advance(const CFI_cdesc_t* array, char* at, CFI_index_t* index) {
  for (int d = 0; d < array->rank; ++d) {
    at += array->dim[d].sm;
    if (++index[d] < array->dim[d].extent) return at;
    at -= array->dim[d].sm * array->dim[d].extent;
    index[d] = 0;
  }
  return at;
}

void descriptor_pack(const CFI_cdesc_t* array, void* packed) {
  CFI_index_t index[CFI_MAX_RANK] = {0};
  const size_t elements = size_of(array);
  char* from = array->base_addr;
  char* to = packed;
  for (size_t i = 0; i < elements; ++i, to += array->elem_len) {
    memcpy(to, from, array->elem_len);
    from = advance(array, from, index);
  }
}

void descriptor_unpack(const CFI_cdesc_t* array, const void* packed) {
  CFI_index_t index[CFI_MAX_RANK] = {0};
  const size_t elements = size_of(array);
  const char* from = packed;
  char* to = array->base_addr;
  for (size_t i = 0; i < elements; ++i, from += array->elem_len) {
    memcpy(to, from, array->elem_len);
    to = advance(array, to, index);
  }
}

int descriptor_refuse(int code, const char* call, const char* argument, const char* problem) {
  char message[512];
  int at = 0;
  int rank = 0;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS)
    at = snprintf(message, sizeof message, "rank %d of MPI_COMM_WORLD: ", rank);
  snprintf(message + at, sizeof message - (size_t)at, "%s: argument %s %s", call, argument, problem);
  return tutti_error_set(code, message);
}
