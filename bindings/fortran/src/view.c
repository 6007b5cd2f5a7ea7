/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(tutti_fint_t) == sizeof(int), "handles of the module are integer(c_int)");

extern int tutti_fortran_in_place; /* the module's tutti_in_place: only its address counts */

/* The addresses of MPI_IN_PLACE in the modules of MPI, which are in place too; known when the library is loaded. */
static const void* mpi_in_place[] = {&tutti_fortran_in_place, &tutti_fortran_in_place};
static int found = 0;

void tutti_fortran_find_in_place(void);
void tutti_fortran_find_in_place_f08(void);
void tutti_fortran_note_in_place(const void* address);

void tutti_fortran_note_in_place(const void* address) { mpi_in_place[found++] = address; }

__attribute__((constructor)) static void find_in_place(void) {
  tutti_fortran_find_in_place();
  tutti_fortran_find_in_place_f08();
}

static int means_in_place(const void* address) {
  return address == (const void*)&tutti_fortran_in_place || address == mpi_in_place[0] || address == mpi_in_place[1];
}

int tutti_fortran_refuse(const char* call, const char* argument, const char* problem, int64_t number) {
  char whole[400];
  const int words = (int)strcspn(problem, ";"); /* the number stands before the remedy */
  snprintf(whole, sizeof whole, "%.*s (%" PRId64 ")%s", words, problem, number, problem + words);
  return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument, whole);
}

int tutti_fortran_there(const char* call, const char* argument, const CFI_cdesc_t* array) {
  if (!descriptor_is_absent(array)) return TUTTI_SUCCESS;
  return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument, DESCRIPTOR_ABSENT);
}

void* tutti_fortran_address(void* address) { return means_in_place(address) ? TUTTI_IN_PLACE : address; }

static int is_in_place(const CFI_cdesc_t* array) { return means_in_place(array->base_addr); }

/* Whether memory must not be packed: the host cannot read it, or a copy in host memory would be of another kind. */
static int is_on_device(int rules, const void* address) {
  int kind = TUTTI_MEMORY_HOST;
  if (rules & VIEW_DEVICE) return 1;
  tutti_memory_kind(address, &kind);
  return kind == TUTTI_MEMORY_DEVICE || kind == TUTTI_MEMORY_MANAGED;
}

/* Finds address, elements and type of one array, and packs a section or describes it by a derived datatype. */
static int look_at(const char* call, const char* name, int rules, const CFI_cdesc_t* array, void** address,
                   size_t* elements, tutti_datatype_t* datatype, void** copy, tutti_datatype_t* layout) {
  if (is_in_place(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, name, "is tutti_in_place; pass an array");
  if (descriptor_is_assumed_size(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, name,
                             "is of assumed size; pass a section with bounds, x(1:n)");
  if (descriptor_is_absent(array))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, name, DESCRIPTOR_ABSENT);
  *datatype = descriptor_datatype(array);
  if (*datatype == TUTTI_DATATYPE_NULL)
    return descriptor_refuse(TUTTI_ERROR_INVALID_DATATYPE, call, name,
                             "has a type without a Tutti datatype; pass c_loc(x), a count and a datatype");
  *elements = descriptor_elements(array);
  *address = array->base_addr;
  if (descriptor_is_contiguous(array)) return TUTTI_SUCCESS;
  if (rules & VIEW_LAYOUTS && descriptor_layout(array, layout) == TUTTI_SUCCESS) return TUTTI_SUCCESS;
  if (rules & VIEW_NO_COPY)
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, name,
                             "is not contiguous; pass a contiguous array, or use the blocking call");
  if (is_on_device(rules, array->base_addr))
    return descriptor_refuse(
        TUTTI_ERROR_INVALID_ARGUMENT, call, name,
        "is a section in device memory, which is never packed; pass a contiguous array, such as a copy of the "
        "section made on the device");
  *copy = malloc(descriptor_bytes(array));
  if (*copy == NULL)
    return descriptor_refuse(TUTTI_ERROR_OUT_OF_MEMORY, call, name,
                             "is a section for whose packed copy there is no memory; pass a contiguous array");
  descriptor_pack(array, *copy);
  *address = *copy;
  return TUTTI_SUCCESS;
}

/* Refuses a number of elements that does not divide into equal blocks. */
static int divide(const char* call, const char* argument, size_t elements, size_t blocks, size_t* each) {
  *each = blocks == 0 ? 0 : elements / blocks;
  if (*each * blocks == elements) return TUTTI_SUCCESS;
  return tutti_fortran_refuse(
      call, argument,
      "has a number of elements that is not a multiple of the number of ranks, or of neighbours in a neighborhood "
      "collective; pass one block of equal size per rank, or per neighbour",
      (int64_t)elements);
}

/* Finds the number of elements per block, which both buffers must agree on. */
static int match(const char* call, int rules, view_call* view) {
  const int whole = (rules & VIEW_RECV_BLOCKS) || ((rules & VIEW_WHOLE_IN_PLACE) && view->send == TUTTI_IN_PLACE);
  const size_t send_blocks = rules & VIEW_SEND_BLOCKS ? (size_t)view->send_blocks : 1;
  const size_t recv_blocks = whole ? (size_t)view->recv_blocks : 1;
  size_t sent = 0;
  size_t received = 0;
  int code = TUTTI_SUCCESS;
  if (view->sees_send) code = divide(call, "sendbuf", view->send_count, send_blocks, &sent);
  if (!code && view->sees_recv) code = divide(call, "recvbuf", view->recv_count, recv_blocks, &received);
  if (code) return code;
  const int sends = view->sees_send && send_blocks > 0;
  view->count = sends ? sent : received;
  if (sends && view->sees_recv && recv_blocks > 0 && sent != received)
    return tutti_fortran_refuse(
        call, "recvbuf",
        "has a number of elements that does not match sendbuf; pass a section of the size that the call needs",
        (int64_t)view->recv_count);
  return TUTTI_SUCCESS;
}

/* Makes the datatype of the call from the layouts of its buffers. */
static int join_layouts(view_call* view) {
  if (view->send_layout == TUTTI_DATATYPE_NULL && view->recv_layout == TUTTI_DATATYPE_NULL) return TUTTI_SUCCESS;
  const tutti_datatype_t send = view->send_layout != TUTTI_DATATYPE_NULL ? view->send_layout : view->datatype;
  const tutti_datatype_t recv = view->recv_layout != TUTTI_DATATYPE_NULL ? view->recv_layout : view->datatype;
  const int code = tutti_datatype_sides(send, recv, &view->both_layouts);
  if (code == TUTTI_SUCCESS) view->datatype = view->both_layouts;
  return code;
}

static int begin(tutti_comm_t comm, int rules, view_call* view) {
  *view = (view_call){0};
  int code = tutti_comm_rank(comm, &view->rank);
  if (code) return code;
  if (rules & VIEW_NEIGHBORS) {
    size_t sources = 0;
    size_t destinations = 0;
    code = tutti_comm_neighbors(comm, 0, NULL, &sources, 0, NULL, &destinations);
    view->send_blocks = (int)destinations;
    view->recv_blocks = (int)sources;
    return code;
  }
  code = tutti_comm_size(comm, &view->send_blocks);
  view->recv_blocks = view->send_blocks;
  return code;
}

int tutti_fortran_open(const char* call, tutti_comm_t comm, int rules, int root, const CFI_cdesc_t* sendbuf,
                       const CFI_cdesc_t* recvbuf, view_call* view) {
  int code = begin(comm, rules, view);
  if (code) return code;
  tutti_datatype_t sent = TUTTI_DATATYPE_NULL;
  tutti_datatype_t received = TUTTI_DATATYPE_NULL;
  const int is_root = view->rank == root;
  view->send = is_in_place(sendbuf) ? TUTTI_IN_PLACE : NULL;
  view->recv = is_in_place(recvbuf) ? TUTTI_IN_PLACE : NULL;
  view->sees_send = !view->send && (is_root || !(rules & VIEW_SEND_AT_ROOT));
  view->sees_recv = !view->recv && (is_root || !(rules & VIEW_RECV_AT_ROOT));
  if (view->sees_send) {
    void* address = NULL;
    code = look_at(call, "sendbuf", rules, sendbuf, &address, &view->send_count, &sent, &view->send_copy,
                   &view->send_layout);
    view->send = address;
  }
  if (!code && view->sees_recv)
    code = look_at(call, "recvbuf", rules, recvbuf, &view->recv, &view->recv_count, &received, &view->recv_copy,
                   &view->recv_layout);
  if (code) return code;
  view->datatype = view->sees_send ? sent : received;
  if (view->sees_send && view->sees_recv && sent != received)
    return descriptor_refuse(TUTTI_ERROR_INVALID_DATATYPE, call, "recvbuf",
                             "has another type or kind than sendbuf; pass arrays of one type and kind");
  if (!(rules & VIEW_FREE_COUNTS)) code = match(call, rules, view);
  return code ? code : join_layouts(view);
}

int tutti_fortran_open_one(const char* call, const char* argument, tutti_comm_t comm, int rules, int root,
                           const CFI_cdesc_t* buffer, view_call* view) {
  int code = begin(comm, rules, view);
  if (code) return code;
  code = look_at(call, argument, rules, buffer, &view->recv, &view->recv_count, &view->datatype, &view->recv_copy,
                 &view->recv_layout);
  if (!code) code = join_layouts(view);
  view->count = view->recv_count;
  view->send = TUTTI_IN_PLACE;
  if (root >= 0 && root != view->rank) {
    view->send = view->recv;
    view->recv = NULL;
  }
  return code;
}

int tutti_fortran_open_message(const char* call, const char* argument, int rules, const CFI_cdesc_t* buffer,
                               view_call* view) {
  *view = (view_call){0};
  const int code = look_at(call, argument, rules, buffer, &view->recv, &view->recv_count, &view->datatype,
                           &view->recv_copy, &view->recv_layout);
  view->send_layout = view->recv_layout;
  view->count = view->recv_count;
  return code ? code : join_layouts(view);
}

static tutti_datatype_t pair_of(tutti_datatype_t value) {
  switch (value) {
    case TUTTI_INT32:
      return TUTTI_INT32_INT32;
    case TUTTI_INT64:
      return TUTTI_INT64_INT64;
    case TUTTI_FLOAT32:
      return TUTTI_FLOAT32_FLOAT32;
    case TUTTI_FLOAT64:
      return TUTTI_FLOAT64_FLOAT64;
    default:
      return TUTTI_DATATYPE_NULL;
  }
}

static int has_pairs(const CFI_cdesc_t* array) { return array->rank > 0 && array->dim[0].extent == 2; }

int tutti_fortran_pairs(const char* call, tutti_op_t op, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* recvbuf,
                        view_call* view) {
  static const char* const remedy =
      "has no value-index pairs for minloc and maxloc; pass an array whose first dimension is 2, x(2, n)";
  if (op != TUTTI_MINLOC && op != TUTTI_MAXLOC) return TUTTI_SUCCESS;
  const tutti_datatype_t pair = pair_of(view->datatype);
  if (pair == TUTTI_DATATYPE_NULL) return TUTTI_SUCCESS; /* the library refuses the type */
  const char* argument = view->sees_send ? "sendbuf" : view->sees_recv ? "recvbuf" : "inout";
  if (!has_pairs(view->sees_send ? sendbuf : recvbuf))
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument, remedy);
  if (view->count % 2 != 0)
    return descriptor_refuse(TUTTI_ERROR_INVALID_ARGUMENT, call, argument,
                             "has blocks that divide a pair; make its last dimension a multiple of the ranks");
  view->datatype = pair;
  view->count /= 2;
  view->send_count /= 2;
  view->recv_count /= 2;
  return TUTTI_SUCCESS;
}

static int combine(const char* call, tutti_op_t op, const CFI_cdesc_t* input, const CFI_cdesc_t* inout,
                   view_call* view) {
  tutti_datatype_t sent = TUTTI_DATATYPE_NULL;
  void* address = NULL;
  int code = look_at(call, "input", 0, input, &address, &view->send_count, &sent, &view->send_copy, &view->send_layout);
  if (!code)
    code = look_at(call, "inout", 0, inout, &view->recv, &view->recv_count, &view->datatype, &view->recv_copy,
                   &view->recv_layout);
  if (code) return code;
  if (sent != view->datatype)
    return descriptor_refuse(TUTTI_ERROR_INVALID_DATATYPE, call, "inout",
                             "has another type or kind than input; pass arrays of one type and kind");
  if (view->send_count != view->recv_count)
    return tutti_fortran_refuse(call, "inout",
                                "has a number of elements that does not match input; pass arrays of one size",
                                (int64_t)view->recv_count);
  view->count = view->recv_count;
  code = tutti_fortran_pairs(call, op, input, inout, view);
  const void* const inputs[] = {address, view->recv};
  return code ? code : tutti_combine(inputs, 2, view->recv, view->count, view->datatype, op);
}

int tutti_fortran_combine(tutti_op_t op, const CFI_cdesc_t* input, const CFI_cdesc_t* inout) {
  view_call view = {0};
  return tutti_fortran_close(inout, &view, combine("tutti_combine", op, input, inout, &view));
}

int tutti_fortran_begin(tutti_comm_t comm, int rules, const void* sendbuf, view_call* view) {
  const int code = begin(comm, rules, view);
  view->sees_send = !means_in_place(sendbuf);
  return code;
}

/* Frees the datatypes; of a message, both sides are one. */
static void free_layouts(view_call* view) {
  if (view->send_layout == view->recv_layout) view->send_layout = TUTTI_DATATYPE_NULL;
  tutti_datatype_t* const made[] = {&view->send_layout, &view->recv_layout, &view->both_layouts};
  for (int i = 0; i < 3; ++i)
    if (*made[i] != TUTTI_DATATYPE_NULL) tutti_datatype_free(made[i]);
}

int tutti_fortran_drop(view_call* view, int code) {
  free(view->send_copy);
  free(view->recv_copy);
  view->send_copy = NULL;
  view->recv_copy = NULL;
  free_layouts(view);
  return code;
}

int tutti_fortran_close(const CFI_cdesc_t* recvbuf, view_call* view, int code) {
  if (code == TUTTI_SUCCESS && view->recv_copy != NULL) descriptor_unpack(recvbuf, view->recv_copy);
  return tutti_fortran_drop(view, code);
}

int tutti_fortran_fits(const char* call, const char* argument, size_t available, size_t ranks, const size_t* counts,
                       const size_t* displs) {
  for (size_t r = 0; r < ranks; ++r)
    if (counts[r] > 0 && (displs[r] > available || counts[r] > available - displs[r]))
      return tutti_fortran_refuse(call, argument,
                                  "ends before the block of this rank; correct its count or displacement", (int64_t)r);
  return TUTTI_SUCCESS;
}
