/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that disagree, over shared memory: the last one makes another call. */
#include "misuse.h"

static const char same_calls[] = "let all ranks make the same calls in the same order";

/* A call with this rank's own values by shared memory, and if it succeeds, calls that see the difference. */
static int see(const struct place* p, int code) {
  for (int i = 0; code == TUTTI_SUCCESS && i < 3; ++i) code = tutti_barrier(p->comm, NULL);
  return code;
}

#define IS_OTHER (p->rank == p->size - 1)
#define DISAGREE(name, call)                        \
  static int name(const struct place* p) {          \
    double a[16] = {0};                             \
    double b[16] = {0};                             \
    tutti_options_t options = TUTTI_OPTIONS_INIT;   \
    const tutti_options_t* const shared = &options; \
    options.algorithm = "shm";                      \
    (void)b;                                        \
    return see(p, call);                            \
  }

DISAGREE(operation, IS_OTHER ? tutti_bcast(p->comm, a, 4, TUTTI_FLOAT32, 0, shared)
                             : tutti_allreduce(p->comm, a, b, 4, TUTTI_FLOAT32, TUTTI_SUM, shared))
DISAGREE(type, tutti_allreduce(p->comm, a, b, 4, IS_OTHER ? TUTTI_INT32 : TUTTI_FLOAT32, TUTTI_SUM, shared))
DISAGREE(width, tutti_allreduce(p->comm, a, b, 4, IS_OTHER ? TUTTI_FLOAT64 : TUTTI_FLOAT32, TUTTI_SUM, shared))
DISAGREE(op, tutti_allreduce(p->comm, a, b, 4, TUTTI_FLOAT32, IS_OTHER ? TUTTI_MAX : TUTTI_SUM, shared))
DISAGREE(root, tutti_bcast(p->comm, a, 4, TUTTI_FLOAT32, IS_OTHER ? 1 : 0, shared))
DISAGREE(count, tutti_allreduce(p->comm, a, b, IS_OTHER ? 8 : 4, TUTTI_FLOAT32, TUTTI_SUM, shared))
DISAGREE(reduced_count, tutti_reduce(p->comm, a, b, IS_OTHER ? 8 : 4, TUTTI_FLOAT32, TUTTI_SUM, 0, shared))

const struct misuse disagreements[] = {
    {"OperationsDiffer", operation, TUTTI_ERROR_MISMATCH, "bcast(", {same_calls}, 1},
    {"TypesDiffer", type, TUTTI_ERROR_MISMATCH, "(int32, count 4, sum", {same_calls}, 1},
    {"WidthsDiffer", width, TUTTI_ERROR_MISMATCH, "(float64, count 4, sum", {same_calls}, 1},
    {"OpsDiffer", op, TUTTI_ERROR_MISMATCH, ", max)", {same_calls}, 1},
    {"RootsDiffer", root, TUTTI_ERROR_MISMATCH, "root 1", {same_calls}, 1},
    {"CountsDiffer", count, TUTTI_ERROR_MISMATCH, "(float32, count 8", {same_calls}, 1},
    {"CountsOfAReductionDiffer", reduced_count, TUTTI_ERROR_MISMATCH, "(float32, count 8", {same_calls}, 1},
    {0}};
