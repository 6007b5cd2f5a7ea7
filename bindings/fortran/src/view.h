/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_VIEW_H
#define TUTTI_FORTRAN_VIEW_H

/* What the Fortran module asks of the buffers it is given: address, elements and type of a descriptor, a packed copy of
   a section, and whether the buffers of a call fit together. Compiled with the C compiler that belongs to the Fortran
   one: descriptors differ between compilers. Only descriptors are read, so arrays may be in device memory; data are
   touched only where a section must be packed, and never in device memory. */
#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* How the buffers of a call hang together; equal numbers in generate.py. */
enum {
  VIEW_SEND_BLOCKS = 1,     /* sendbuf has a block a rank */
  VIEW_RECV_BLOCKS = 2,     /* recvbuf has a block a rank */
  VIEW_RECV_AT_ROOT = 4,    /* recvbuf is looked at on the root only */
  VIEW_SEND_AT_ROOT = 8,    /* sendbuf is looked at on the root only */
  VIEW_WHOLE_IN_PLACE = 16, /* in place, recvbuf has a block a rank */
  VIEW_FREE_COUNTS = 32,    /* the sizes follow from arrays of counts */
  VIEW_NO_COPY = 64,        /* a section cannot be packed: the call returns before it is done */
  VIEW_DEVICE = 128         /* the buffers are declared to be in device or managed memory */
};

/* One call's buffers; mirrored by type view_call of the module. */
typedef struct {
  const void* send; /* what the C function is given */
  void* recv;
  size_t send_count; /* elements of the arrays */
  size_t recv_count;
  size_t count; /* elements a block */
  tutti_datatype_t datatype;
  void* send_copy; /* packed copies, or NULL */
  void* recv_copy;
  int rank;
  int ranks;
  int sees_send; /* whether this rank's sendbuf is looked at and is not in place */
  int sees_recv;
} view_call;

/* Both buffers of a collective. */
int tutti_fortran_open(const char* call, tutti_comm_t comm, int rules, int root, const CFI_cdesc_t* sendbuf,
                       const CFI_cdesc_t* recvbuf, view_call* view);
/* One buffer that is read and written: the call is in place; with root >= 0 only there. */
int tutti_fortran_open_one(const char* call, tutti_comm_t comm, int rules, int root, const CFI_cdesc_t* buffer,
                           view_call* view);
/* One buffer of a message. */
int tutti_fortran_open_message(const char* call, int rules, const CFI_cdesc_t* buffer, view_call* view);

/* Rank and number of ranks, for a call by address. */
int tutti_fortran_begin(tutti_comm_t comm, const void* sendbuf, view_call* view);

/* Give results back to the section and free the copies. */
int tutti_fortran_close(const CFI_cdesc_t* recvbuf, view_call* view, int code);
int tutti_fortran_drop(view_call* view, int code);

/* An address, or TUTTI_IN_PLACE where it is that of the module's tutti_in_place. */
void* tutti_fortran_address(void* address);
/* Whether blocks of given counts and displacements lie inside `available` elements. */
int tutti_fortran_fits(const char* call, const char* argument, size_t available, size_t ranks, const size_t* counts,
                       const size_t* displs);
/* Reports an argument with a number in it. */
int tutti_fortran_refuse(const char* call, const char* argument, const char* problem, int64_t number);

#endif
