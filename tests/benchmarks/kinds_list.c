/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls: forms of each collective, and derived types as programs have them (columns of a matrix, boxes of
   a mesh, records with gaps, lists of places). */
#include "kinds.h"

#include <stddef.h>

#define WORLD MPI_COMM_WORLD
#define CALL(name, ...) \
  static void name(struct work* w) { __VA_ARGS__; }
#define WAITED(name, ...)                  \
  static void name(struct work* w) {       \
    MPI_Request request;                   \
    __VA_ARGS__;                           \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  }
#define BLOCK w->count, MPI_DOUBLE

/* Blocking, contiguous. */
CALL(barrier, (void)w; MPI_Barrier(WORLD))
CALL(bcast, MPI_Bcast(w->in, BLOCK, 0, WORLD))
CALL(reduce, MPI_Reduce(w->in, w->out, BLOCK, MPI_SUM, 0, WORLD))
CALL(allreduce, MPI_Allreduce(w->in, w->out, BLOCK, MPI_SUM, WORLD))
CALL(reduce_scatter_block, MPI_Reduce_scatter_block(w->in, w->out, BLOCK, MPI_SUM, WORLD))
CALL(reduce_scatter, MPI_Reduce_scatter(w->in, w->out, w->counts, MPI_DOUBLE, MPI_SUM, WORLD))
CALL(scan, MPI_Scan(w->in, w->out, BLOCK, MPI_SUM, WORLD))
CALL(exscan, MPI_Exscan(w->in, w->out, BLOCK, MPI_SUM, WORLD))
CALL(gather, MPI_Gather(w->in, BLOCK, w->out, BLOCK, 0, WORLD))
CALL(gatherv, MPI_Gatherv(w->in, BLOCK, w->out, w->counts, w->offsets, MPI_DOUBLE, 0, WORLD))
CALL(scatter, MPI_Scatter(w->in, BLOCK, w->out, BLOCK, 0, WORLD))
CALL(scatterv, MPI_Scatterv(w->in, w->counts, w->offsets, MPI_DOUBLE, w->out, BLOCK, 0, WORLD))
CALL(allgather, MPI_Allgather(w->in, BLOCK, w->out, BLOCK, WORLD))
CALL(allgatherv, MPI_Allgatherv(w->in, BLOCK, w->out, w->counts, w->offsets, MPI_DOUBLE, WORLD))
CALL(alltoall, MPI_Alltoall(w->in, BLOCK, w->out, BLOCK, WORLD))
CALL(alltoallv,
     MPI_Alltoallv(w->in, w->counts, w->offsets, MPI_DOUBLE, w->out, w->counts, w->offsets, MPI_DOUBLE, WORLD))
CALL(alltoallv_neighbours,
     MPI_Alltoallv(w->in, w->sparse, w->offsets, MPI_DOUBLE, w->out, w->sparse, w->offsets, MPI_DOUBLE, WORLD))
CALL(alltoallw, MPI_Alltoallw(w->in, w->counts, w->byte_offsets, w->doubles, w->out, w->counts, w->byte_offsets,
                              w->doubles, WORLD))

/* In place. */
CALL(reduce_in_place, if (w->rank == 0) MPI_Reduce(MPI_IN_PLACE, w->out, BLOCK, MPI_SUM, 0, WORLD);
     else MPI_Reduce(w->out, NULL, BLOCK, MPI_SUM, 0, WORLD))
CALL(allreduce_in_place, MPI_Allreduce(MPI_IN_PLACE, w->out, BLOCK, MPI_SUM, WORLD))
CALL(allgather_in_place, MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w->out, BLOCK, WORLD))
CALL(alltoall_in_place, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w->out, BLOCK, WORLD))
CALL(gather_in_place, if (w->rank == 0) MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w->out, BLOCK, 0, WORLD);
     else MPI_Gather(w->in, BLOCK, NULL, 0, MPI_DATATYPE_NULL, 0, WORLD))

/* Other operations and types. */
CALL(allreduce_max, MPI_Allreduce(w->in, w->out, BLOCK, MPI_MAX, WORLD))
CALL(allreduce_users, MPI_Allreduce(w->in, w->out, BLOCK, w->user, WORLD))
CALL(allreduce_maxloc, MPI_Allreduce(w->in, w->out, (w->count + 1) / 2, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD))
CALL(allreduce_int, MPI_Allreduce(w->in, w->out, 2 * w->count, MPI_INT, MPI_SUM, WORLD))
CALL(allreduce_float, MPI_Allreduce(w->in, w->out, 2 * w->count, MPI_FLOAT, MPI_SUM, WORLD))
CALL(allreduce_bytes, MPI_Allreduce(w->in, w->out, 8 * w->count, MPI_UNSIGNED_CHAR, MPI_BOR, WORLD))

/* Derived types. */
CALL(bcast_column, MPI_Bcast(w->in, 1, w->vector, 0, WORLD))
CALL(bcast_box, MPI_Bcast(w->in, 1, w->box, 0, WORLD))
CALL(bcast_records, MPI_Bcast(w->in, 1, w->records, 0, WORLD))
CALL(bcast_places, MPI_Bcast(w->in, 1, w->indexed, 0, WORLD))
CALL(gather_columns, MPI_Gather(w->in, 1, w->strided, w->out, 1, w->strided, 0, WORLD))
CALL(scatter_columns, MPI_Scatter(w->in, 1, w->strided, w->out, BLOCK, 0, WORLD))
CALL(gatherv_boxes, MPI_Gatherv(w->in, 1, w->box, w->out, w->ones, w->ranks, w->box, 0, WORLD))
CALL(allgather_columns, MPI_Allgather(w->in, BLOCK, w->out, 1, w->strided, WORLD))
CALL(allgather_records, MPI_Allgather(w->in, 1, w->records, w->out, 1, w->records, WORLD))
CALL(allgatherv_boxes, MPI_Allgatherv(w->in, 1, w->box, w->out, w->ones, w->ranks, w->box, WORLD))
CALL(alltoall_columns, MPI_Alltoall(w->in, 1, w->strided, w->out, BLOCK, WORLD))
CALL(alltoall_places, MPI_Alltoall(w->in, 1, w->indexed, w->out, 1, w->indexed, WORLD))
CALL(alltoallw_boxes,
     MPI_Alltoallw(w->in, w->ones, w->byte_offsets, w->boxes, w->out, w->ones, w->byte_offsets, w->boxes, WORLD))

/* Neighbours on a ring: two, of which one is the rank itself where there is one rank. */
CALL(neighbor_allgather, MPI_Neighbor_allgather(w->in, BLOCK, w->out, BLOCK, w->ring))
CALL(neighbor_alltoall, MPI_Neighbor_alltoall(w->in, BLOCK, w->out, BLOCK, w->ring))
CALL(neighbor_alltoallv, MPI_Neighbor_alltoallv(w->in, w->counts, w->offsets, MPI_DOUBLE, w->out, w->counts, w->offsets,
                                                MPI_DOUBLE, w->ring))
CALL(neighbor_alltoallw_boxes, const MPI_Aint places[2] = {0, (MPI_Aint)w->byte_offsets[1]};
     MPI_Neighbor_alltoallw(w->in, w->ones, places, w->boxes, w->out, w->ones, places, w->boxes, w->ring))

/* Nonblocking, waited for at once. */
WAITED(ibarrier, (void)w; MPI_Ibarrier(WORLD, &request))
WAITED(ibcast, MPI_Ibcast(w->in, BLOCK, 0, WORLD, &request))
WAITED(ireduce, MPI_Ireduce(w->in, w->out, BLOCK, MPI_SUM, 0, WORLD, &request))
WAITED(iallreduce, MPI_Iallreduce(w->in, w->out, BLOCK, MPI_SUM, WORLD, &request))
WAITED(igather, MPI_Igather(w->in, BLOCK, w->out, BLOCK, 0, WORLD, &request))
WAITED(iscatter, MPI_Iscatter(w->in, BLOCK, w->out, BLOCK, 0, WORLD, &request))
WAITED(iallgather, MPI_Iallgather(w->in, BLOCK, w->out, BLOCK, WORLD, &request))
WAITED(iallgatherv, MPI_Iallgatherv(w->in, BLOCK, w->out, w->counts, w->offsets, MPI_DOUBLE, WORLD, &request))
WAITED(ialltoall, MPI_Ialltoall(w->in, BLOCK, w->out, BLOCK, WORLD, &request))
WAITED(ialltoallv, MPI_Ialltoallv(w->in, w->counts, w->offsets, MPI_DOUBLE, w->out, w->counts, w->offsets, MPI_DOUBLE,
                                  WORLD, &request))
WAITED(ialltoallw_boxes, MPI_Ialltoallw(w->in, w->ones, w->byte_offsets, w->boxes, w->out, w->ones, w->byte_offsets,
                                        w->boxes, WORLD, &request))
WAITED(ineighbor_alltoall, MPI_Ineighbor_alltoall(w->in, BLOCK, w->out, BLOCK, w->ring, &request))

#if MPI_VERSION >= 4
/* Persistent, started and waited for. */
CALL(again, MPI_Start(&w->request); MPI_Wait(&w->request, MPI_STATUS_IGNORE))
CALL(barrier_init, MPI_Barrier_init(WORLD, MPI_INFO_NULL, &w->request))
CALL(bcast_init, MPI_Bcast_init(w->in, BLOCK, 0, WORLD, MPI_INFO_NULL, &w->request))
CALL(allreduce_init, MPI_Allreduce_init(w->in, w->out, BLOCK, MPI_SUM, WORLD, MPI_INFO_NULL, &w->request))
CALL(allgather_init, MPI_Allgather_init(w->in, BLOCK, w->out, BLOCK, WORLD, MPI_INFO_NULL, &w->request))
CALL(alltoall_init, MPI_Alltoall_init(w->in, BLOCK, w->out, BLOCK, WORLD, MPI_INFO_NULL, &w->request))
CALL(alltoallw_boxes_init, MPI_Alltoallw_init(w->in, w->ones, w->byte_offsets, w->boxes, w->out, w->ones,
                                              w->byte_offsets, w->boxes, WORLD, MPI_INFO_NULL, &w->request))
CALL(neighbor_alltoall_init,
     MPI_Neighbor_alltoall_init(w->in, BLOCK, w->out, BLOCK, w->ring, MPI_INFO_NULL, &w->request))
#endif

#define KIND(name) \
  { #name, name, NULL, 0 }
#define BEFORE(name) \
  { #name, again, name, 0 }
const struct kind kinds[] = {
    {"barrier", barrier, NULL, 1},
    KIND(bcast),
    KIND(reduce),
    KIND(allreduce),
    KIND(reduce_scatter_block),
    KIND(reduce_scatter),
    KIND(scan),
    KIND(exscan),
    KIND(gather),
    KIND(gatherv),
    KIND(scatter),
    KIND(scatterv),
    KIND(allgather),
    KIND(allgatherv),
    KIND(alltoall),
    KIND(alltoallv),
    KIND(alltoallv_neighbours),
    KIND(alltoallw),
    KIND(reduce_in_place),
    KIND(allreduce_in_place),
    KIND(allgather_in_place),
    KIND(alltoall_in_place),
    KIND(gather_in_place),
    KIND(allreduce_max),
    KIND(allreduce_users),
    KIND(allreduce_maxloc),
    KIND(allreduce_int),
    KIND(allreduce_float),
    KIND(allreduce_bytes),
    KIND(bcast_column),
    KIND(bcast_box),
    KIND(bcast_records),
    KIND(bcast_places),
    KIND(gather_columns),
    KIND(scatter_columns),
    KIND(gatherv_boxes),
    KIND(allgather_columns),
    KIND(allgather_records),
    KIND(allgatherv_boxes),
    KIND(alltoall_columns),
    KIND(alltoall_places),
    KIND(alltoallw_boxes),
    KIND(neighbor_allgather),
    KIND(neighbor_alltoall),
    KIND(neighbor_alltoallv),
    KIND(neighbor_alltoallw_boxes),
    {"ibarrier", ibarrier, NULL, 1},
    KIND(ibcast),
    KIND(ireduce),
    KIND(iallreduce),
    KIND(igather),
    KIND(iscatter),
    KIND(iallgather),
    KIND(iallgatherv),
    KIND(ialltoall),
    KIND(ialltoallv),
    KIND(ialltoallw_boxes),
    KIND(ineighbor_alltoall),
#if MPI_VERSION >= 4
    {"barrier_init", again, barrier_init, 1},
    BEFORE(bcast_init),
    BEFORE(allreduce_init),
    BEFORE(allgather_init),
    BEFORE(alltoall_init),
    BEFORE(alltoallw_boxes_init),
    BEFORE(neighbor_alltoall_init),
#endif
    {NULL, NULL, NULL, 0},
};
