/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_VIEW_H
#define TUTTI_FORTRAN_VIEW_H

/* The C side of the Fortran module: finds address, elements and type of arrays in their descriptors, packs sections and
   checks that the buffers of a call fit together. Compile it with the C compiler that belongs to the Fortran compiler,
   because descriptors differ between compilers. Arrays may be in device memory: only descriptors are read, and data
   only to pack a section, which is never done in device memory. */
#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* Read a descriptor. */
tutti_datatype_t descriptor_datatype(const CFI_cdesc_t* array); /* TUTTI_DATATYPE_NULL if Tutti has none */
size_t descriptor_elements(const CFI_cdesc_t* array);           /* of that type: characters, not strings */
size_t descriptor_bytes(const CFI_cdesc_t* array);
int descriptor_is_absent(const CFI_cdesc_t* array); /* not allocated or not associated; empty arrays are present */
int descriptor_is_assumed_size(const CFI_cdesc_t* array);
int descriptor_is_contiguous(const CFI_cdesc_t* array);

/* Makes a derived datatype of a section. Fails if its strides are no multiples of its elements, as in components of
   some derived types. */
int descriptor_layout(const CFI_cdesc_t* array, tutti_datatype_t* layout);

/* Copy the elements, in array element order, to and from contiguous memory. */
void descriptor_pack(const CFI_cdesc_t* array, void* packed);
void descriptor_unpack(const CFI_cdesc_t* array, const void* packed);

#define DESCRIPTOR_ABSENT "is not allocated or not associated; allocate it, with no elements if it has none"

/* Sets the message of a failure and returns its code. */
int descriptor_refuse(int code, const char* call, const char* argument, const char* problem);

/* How the sizes of the buffers of a call are related. collective_forms.py has the same numbers. */
enum {
  VIEW_SEND_BLOCKS = 1,     /* sendbuf has one block per rank */
  VIEW_RECV_BLOCKS = 2,     /* recvbuf has one block per rank */
  VIEW_RECV_AT_ROOT = 4,    /* only the root reads recvbuf */
  VIEW_SEND_AT_ROOT = 8,    /* only the root reads sendbuf */
  VIEW_WHOLE_IN_PLACE = 16, /* in place, recvbuf has one block per rank */
  VIEW_FREE_COUNTS = 32,    /* arrays of counts give the sizes */
  VIEW_NO_COPY = 64,        /* sections are refused: the call returns before it is done */
  VIEW_DEVICE = 128,        /* the buffers are declared to be in device or managed memory */
  VIEW_LAYOUTS = 256,       /* with VIEW_NO_COPY: the library packs sections by a derived datatype */
  VIEW_NEIGHBORS = 512      /* "rank" above: destination of this rank for sendbuf, source for recvbuf */
};

/* The buffers of one call; type view_call of the module has the same members. */
typedef struct {
  const void* send; /* arguments of the C function */
  void* recv;
  size_t send_count; /* elements of the arrays */
  size_t recv_count;
  size_t count; /* elements per block */
  tutti_datatype_t datatype;
  void* send_copy; /* packed copies, or NULL */
  void* recv_copy;
  int rank;
  int send_blocks; /* blocks of a buffer that has one for each rank or neighbour */
  int recv_blocks;
  int sees_send; /* whether this rank's sendbuf is an array that is read */
  int sees_recv;
  tutti_datatype_t send_layout; /* derived datatypes of sections, or TUTTI_DATATYPE_NULL */
  tutti_datatype_t recv_layout;
  tutti_datatype_t both_layouts;
} view_call;

/* Open both buffers of a collective, */
int tutti_fortran_open(const char* call, tutti_comm_t comm, int rules, int root, const CFI_cdesc_t* sendbuf,
                       const CFI_cdesc_t* recvbuf, view_call* view);
/* one buffer that a collective reads and writes in place, with root >= 0 on the root only, */
int tutti_fortran_open_one(const char* call, const char* argument, tutti_comm_t comm, int rules, int root,
                           const CFI_cdesc_t* buffer, view_call* view);
/* the buffer of a message, */
int tutti_fortran_open_message(const char* call, const char* argument, int rules, const CFI_cdesc_t* buffer,
                               view_call* view);

/* Makes value-index pairs of the buffers of an open call, if `op` looks for a place: arrays whose first dimension is 2,
   as for MPI_2INTEGER, MPI_2REAL and MPI_2DOUBLE_PRECISION. In place, recvbuf is the buffer. */
int tutti_fortran_pairs(const char* call, tutti_op_t op, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* recvbuf,
                        view_call* view);

/* or a call by address, which needs rank and numbers of blocks only. */
int tutti_fortran_begin(tutti_comm_t comm, int rules, const void* sendbuf, view_call* view);

/* End a call: tutti_fortran_close copies results back to a section; both free the copies and return `code`. */
int tutti_fortran_close(const CFI_cdesc_t* recvbuf, view_call* view, int code);
int tutti_fortran_drop(view_call* view, int code);

/* Combines two arrays of this rank: inout = input op inout. */
int tutti_fortran_combine(tutti_op_t op, const CFI_cdesc_t* input, const CFI_cdesc_t* inout);

/* Refuses an array that is not allocated or not associated. */
int tutti_fortran_there(const char* call, const char* argument, const CFI_cdesc_t* array);
/* Returns TUTTI_IN_PLACE for the address of the module's tutti_in_place, and any other address as it is. */
void* tutti_fortran_address(void* address);
/* Refuses blocks that end after `available` elements. */
int tutti_fortran_fits(const char* call, const char* argument, size_t available, size_t ranks, const size_t* counts,
                       const size_t* displs);
/* Refuses an argument. The message has the number before the remedy, which begins with the first semicolon of
   `problem`. */
int tutti_fortran_refuse(const char* call, const char* argument, const char* problem, int64_t number);

#if TUTTI_HAS_TRAINING
/* Registers a parameter; without a gradient (NULL) the bucket holds it. The shape is reversed: the contiguous dimension
   is the first in Fortran and the last in C. */
int tutti_fortran_add(tutti_reducer_t reducer, const char* name, const CFI_cdesc_t* value, const CFI_cdesc_t* gradient,
                      size_t* index);
int tutti_fortran_dense_step(const tutti_dense_update_t* update, int64_t step, const CFI_cdesc_t* parameters,
                             const CFI_cdesc_t* gradients, const CFI_cdesc_t* state);
#endif

/* Exact sums. operation: 0 sum, 1 norm2, 2 mean; form: 0 blocking, 1 nonblocking, 2 persistent. weights and mask may be
   NULL; the elements of results are the fields. */
int tutti_fortran_exact(const char* call, int operation, int form, tutti_comm_t comm, const CFI_cdesc_t* values,
                        const CFI_cdesc_t* results, const CFI_cdesc_t* weights, const CFI_cdesc_t* mask,
                        const tutti_options_t* options, tutti_request_t* request);
int tutti_fortran_exact_dot(const char* call, int form, tutti_comm_t comm, const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                            const CFI_cdesc_t* results, const CFI_cdesc_t* mask, const tutti_options_t* options,
                            tutti_request_t* request);
int tutti_fortran_exact_variance(tutti_comm_t comm, const CFI_cdesc_t* values, double* means, double* variances,
                                 size_t fields, const CFI_cdesc_t* weights, const CFI_cdesc_t* mask,
                                 const tutti_options_t* options);
int tutti_fortran_exact_location(const char* call, int is_largest, tutti_comm_t comm, const CFI_cdesc_t* values,
                                 int64_t first_index, double* value, int64_t* index, const CFI_cdesc_t* mask,
                                 const tutti_options_t* options);
int tutti_fortran_accumulate(tutti_accumulator_t* accumulator, const CFI_cdesc_t* values, const CFI_cdesc_t* weights,
                             const CFI_cdesc_t* mask);
/* MPI_COMM_WORLD, which module tutti takes from no module of MPI. */
tutti_fint_t tutti_fortran_world(void);

#endif
