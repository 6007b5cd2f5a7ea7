/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <mpi.h>

/// The names by which MPI converts the handles of Fortran: the ABI of MPI 5, which knows no Fortran, has its own.
#ifdef MPI_ABI_VERSION
#define TUTTI_COMM_FROM_FORTRAN MPI_Comm_fromint
#define TUTTI_COMM_TO_FORTRAN MPI_Comm_toint
#define TUTTI_TYPE_FROM_FORTRAN MPI_Type_fromint
#define TUTTI_TYPE_TO_FORTRAN MPI_Type_toint
#define TUTTI_OP_FROM_FORTRAN MPI_Op_fromint
#define TUTTI_OP_TO_FORTRAN MPI_Op_toint
#else
#define TUTTI_COMM_FROM_FORTRAN MPI_Comm_f2c
#define TUTTI_COMM_TO_FORTRAN MPI_Comm_c2f
#define TUTTI_TYPE_FROM_FORTRAN MPI_Type_f2c
#define TUTTI_TYPE_TO_FORTRAN MPI_Type_c2f
#define TUTTI_OP_FROM_FORTRAN MPI_Op_f2c
#define TUTTI_OP_TO_FORTRAN MPI_Op_c2f
#endif
