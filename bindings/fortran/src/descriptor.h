/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_DESCRIPTOR_H
#define TUTTI_FORTRAN_DESCRIPTOR_H

#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* What a descriptor says. */
tutti_datatype_t descriptor_datatype(const CFI_cdesc_t* array); /* TUTTI_DATATYPE_NULL: none of Tutti's */
size_t descriptor_elements(const CFI_cdesc_t* array);
int descriptor_is_assumed_size(const CFI_cdesc_t* array);
int descriptor_is_contiguous(const CFI_cdesc_t* array);

/* Copies the elements in array element order to, and from, contiguous memory. */
void descriptor_pack(const CFI_cdesc_t* array, void* packed);
void descriptor_unpack(const CFI_cdesc_t* array, const void* packed);

#endif
