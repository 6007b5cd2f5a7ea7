/* SPDX-License-Identifier: BSD-3-Clause */
/* Times kinds of MPI calls in one process group: kinds.py runs it with and without libtutti-mpi.

     kinds SECONDS KINDS BYTES...  # of each cell, at most; names between commas, or all; bytes of a block

   Prints for each kind and size: kind, bytes, least mean seconds of a call over batches, on the slowest rank. */
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batches = 9, most_calls = 2000 };

static void user_sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  const double* from = in;
  double* to = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) to[i] += from[i];
}

/* A matrix of doubles of two columns more than it gives, of which every second is in the vector. */
static void make_types(struct work* w) {
  const int n = w->count;
  MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &w->vector);
  MPI_Type_create_resized(w->vector, 0, (MPI_Aint)(2 * (size_t)n * sizeof(double)), &w->strided);
  const int edge = n >= 64 ? n / 64 : 1, rows = n / edge;
  const int sizes[3] = {rows > 8 ? 8 : 1, rows > 8 ? rows / 8 : rows, 2 * edge};
  const int parts[3] = {sizes[0], sizes[1], edge}, starts[3] = {0, 0, edge / 2};
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &w->box);
  const int lengths[2] = {1, 3};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype members[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype gappy;
  MPI_Type_create_struct(2, lengths, places, members, &gappy);
  MPI_Type_contiguous(n >= 4 ? n / 4 : 1, gappy, &w->records);
  MPI_Type_free(&gappy);
  MPI_Type_create_indexed_block(n >= 2 ? n / 2 : 1, 2, w->places, MPI_DOUBLE, &w->indexed);
  MPI_Datatype* all[] = {&w->vector, &w->strided, &w->box, &w->records, &w->indexed};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) MPI_Type_commit(all[i]);
}

static void free_types(struct work* w) {
  MPI_Datatype* all[] = {&w->vector, &w->strided, &w->box, &w->records, &w->indexed};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) MPI_Type_free(all[i]);
}

static void fill_lists(struct work* w) {
  for (int r = 0; r < w->size; ++r) {
    w->counts[r] = w->count;
    w->offsets[r] = r * w->count;
    w->ones[r] = 1;
    w->ranks[r] = r;
    w->byte_offsets[r] = 4 * r * w->count * (int)sizeof(double);
    w->boxes[r] = w->box;
    w->doubles[r] = MPI_DOUBLE;
    /* Each rank gives to its two neighbours alone. */
    const int next = (w->rank + 1) % w->size, last = (w->rank + w->size - 1) % w->size;
    w->sparse[r] = r == next || r == last ? w->count : 0;
  }
}

static void begin(struct work* w, size_t bytes) {
  w->count = (int)(bytes / sizeof(double));
  if (w->count < 1) w->count = 1;
  const size_t all = 4 * (size_t)w->count * (size_t)w->size + 64;
  w->in = calloc(all, sizeof(double));
  w->out = calloc(all, sizeof(double));
  w->places = malloc(((size_t)w->count + 1) * sizeof(int));
  for (int i = 0; i <= w->count; ++i) w->places[i] = 4 * i;
  make_types(w);
  fill_lists(w);
}

static void end(struct work* w) {
  free_types(w);
  free(w->in);
  free(w->out);
  free(w->places);
}

static double batch(struct work* w, const struct kind* kind, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double from = MPI_Wtime();
  for (int i = 0; i < calls; ++i) kind->call(w);
  return (MPI_Wtime() - from) / calls;
}

static void measure(struct work* w, const struct kind* kind, size_t bytes, double budget) {
  w->request = MPI_REQUEST_NULL;
  if (kind->prepare != NULL) kind->prepare(w);
  for (int i = 0; i < 20; ++i) kind->call(w);
  double once = batch(w, kind, 3);
  MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double wanted = budget / batches / once;
  const int calls = wanted < 1 ? 1 : wanted > most_calls ? most_calls : (int)wanted;
  double least = 1e30;
  for (int i = 0; i < batches; ++i) {
    double seconds = batch(w, kind, calls);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (seconds < least) least = seconds;
  }
  if (w->request != MPI_REQUEST_NULL) MPI_Request_free(&w->request);
  if (w->rank == 0) printf("%s\t%zu\t%.9f\n", kind->name, bytes, least);
  fflush(stdout);
}

static struct work make_work(void) {
  struct work w = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w.size);
  const int dimensions[1] = {w.size}, periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &w.ring);
  MPI_Op_create(user_sum, 1, &w.user);
  int** lists[] = {&w.counts, &w.offsets, &w.ones, &w.ranks, &w.byte_offsets, &w.sparse};
  const size_t places = (size_t)(w.size > 2 ? w.size : 2);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) *lists[i] = malloc(places * sizeof(int));
  w.boxes = malloc(places * sizeof *w.boxes);
  w.doubles = malloc(places * sizeof *w.doubles);
  return w;
}

static void free_work(struct work* w) {
  int* lists[] = {w->counts, w->offsets, w->ones, w->ranks, w->byte_offsets, w->sparse};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) free(lists[i]);
  free(w->boxes);
  free(w->doubles);
  MPI_Op_free(&w->user);
  MPI_Comm_free(&w->ring);
}

static int is_wanted(const char* names, const char* name) {
  if (strcmp(names, "all") == 0) return 1;
  const size_t length = strlen(name);
  for (const char* at = strstr(names, name); at != NULL; at = strstr(at + 1, name))
    if ((at == names || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) {
    fprintf(stderr, "kinds: SECONDS KINDS BYTES...\n");
    MPI_Finalize();
    return 2;
  }
  struct work w = make_work();
  for (int a = 3; a < argc; ++a) {
    const size_t bytes = (size_t)strtoull(argv[a], NULL, 10);
    begin(&w, bytes);
    for (const struct kind* kind = kinds; kind->name != NULL; ++kind)
      if (is_wanted(argv[2], kind->name) && (a == 3 || !kind->has_no_data)) measure(&w, kind, bytes, atof(argv[1]));
    end(&w);
  }
  free_work(&w);
  MPI_Finalize();
  return 0;
}
