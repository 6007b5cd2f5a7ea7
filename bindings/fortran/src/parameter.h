/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_PARAMETER_H
#define TUTTI_FORTRAN_PARAMETER_H

/* What the Fortran module asks of arrays that are parameters, gradients and state of an optimizer. Compiled as view.h
   says. */
#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* Registers a parameter; gradient NULL: it lives in the bucket. A Fortran array's first dimension is contiguous, C's
   last one: the shape is reversed. */
int tutti_fortran_add(tutti_reducer_t reducer, const char* name, const CFI_cdesc_t* value, const CFI_cdesc_t* gradient,
                      size_t* index);
int tutti_fortran_dense_step(const tutti_dense_update_t* update, int64_t step, const CFI_cdesc_t* parameters,
                             const CFI_cdesc_t* gradients, const CFI_cdesc_t* state);

#endif
