/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls that kinds.c times. */
#pragma once

#include <mpi.h>

struct work {
  int rank, size, count; /* doubles of one block */
  double *in, *out;      /* four blocks a rank */
  int *counts, *offsets, *ones, *ranks, *byte_offsets, *sparse, *places;
  MPI_Datatype vector, strided, box, records, indexed; /* one block each, of up to four blocks' extent */
  MPI_Datatype *boxes, *doubles;
  MPI_Comm ring;
  MPI_Op user;
  MPI_Request request; /* of a persistent call */
};

struct kind {
  const char* name;
  void (*call)(struct work* w);
  void (*prepare)(struct work* w); /* NULL: nothing to do */
  int has_no_data;
};

/* Ends with one without a name. */
extern const struct kind kinds[];
