/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives on float32, one line a cell: operation, bytes, microseconds (median of the slowest rank),
   iterations, wrong elements. Compiled over an MPI as it is, and with COMPARE_TUTTI over Tutti's C interface; the loop
   is the same, its barrier is that of the library under test. compare_peers.py builds, runs and compares.

   usage: compare_peers LOW HIGH OPERATIONS|all BUDGET reuse|cold COLD_BYTES barrier|clock
   Sizes go from LOW to HIGH by factors of four. A cell ends after BUDGET seconds of calls and 7 of them, or after 4000.
   cold: calls rotate over COLD_BYTES of buffers in each rank, and as much other memory is read before each cell.
   barrier: ranks begin a call when they leave the barrier, which is up to the barrier's skew apart. clock: all begin it
   at one time of the node's clock, some microseconds later, so that no library's barrier has a part in its time. */
#include "compare_peers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { cap = 4000, warm_up = 3, least = 7, page = 4096, guard = 64 };
static const float poison = -1.0F;
static int rank, ranks;

struct arguments {
  long low, high;
  const char* operations;
  double budget;
  int cold;
  size_t cold_bytes;
  int by_clock;
};

/* Send and receive buffers: one pair where they are used again, many where they are to be cold. */
struct buffers {
  char* memory;
  size_t pitch; /* bytes of one buffer */
  long slots;
};

static void* get_memory(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, page, bytes) != 0) {
    fprintf(stderr, "compare_peers: no %zu bytes of memory; lower HIGH or COLD_BYTES\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(memory, 0, bytes);
  return memory;
}

static float* send_of(const struct buffers* b, long slot) { return (float*)(b->memory + 2 * (size_t)slot * b->pitch); }
static float* recv_of(const struct buffers* b, long slot) { return (float*)((char*)send_of(b, slot) + b->pitch); }

/* Small whole numbers: sums are exact in any order. */
static float value(int of, long index, long slot) { return (float)(of + index % 7 + slot % 5); }

static float sum_of_all(long index, long slot) {
  return (float)(ranks * (index % 7 + slot % 5) + (long)ranks * (ranks - 1) / 2);
}

static void fill(enum operation op, float* s, float* d, long count, long slot) {
  const int receives = op == op_bcast && rank != 0;
  for (long i = 0; i < count; i++) s[i] = receives ? poison : value(rank, i, slot);
  s[count] = poison;
  for (long i = 0; i <= count; i++) d[i] = poison;
}

static float expected(enum operation op, long i, long block, long slot) {
  switch (op) {
    case op_bcast:
      return value(0, i, slot);
    case op_reduce:
    case op_allreduce:
      return sum_of_all(i, slot);
    case op_reduce_scatter:
      return sum_of_all(rank * block + i, slot);
    case op_allgather:
    case op_gather:
      return value((int)(i / block), i % block, slot);
    case op_alltoall:
      return value((int)(i / block), rank * block + i % block, slot);
    default:
      return value(0, rank * block + i, slot);
  }
}

/* Elements of this rank's result that are not what they must be. */
static long count_wrong(enum operation op, const float* s, const float* d, long count, long slot) {
  const float* result = op == op_bcast ? s : d;
  const long block = count / ranks;
  long length = op == op_reduce_scatter || op == op_scatter ? block : op < op_reduce_scatter ? count : block * ranks;
  if (op == op_barrier || ((op == op_reduce || op == op_gather) && rank != 0)) return 0;
  long wrong = 0;
  for (long i = 0; i < length; i++) wrong += result[i] != expected(op, i, block, slot);
  return wrong + (result[count] != poison);
}

static void read_through(const char* memory, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= bytes; i += 64) sum += *(const volatile uint64_t*)(memory + i);
  (void)sum;
}

/* Ranks that leave a barrier at about the same time meet at the next time that is a multiple of `beat`; they read the
   node's clock alone meanwhile. In few calls the beat falls between two ranks, which then begin a beat apart. */
static void await_beat(void) {
  const long long beat = 16384, at_least = 4096;
  struct timespec now;
  long long begin = 0, at = 0;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    at = now.tv_sec * 1000000000LL + now.tv_nsec;
    if (begin == 0) begin = (at + at_least + beat - 1) / beat * beat;
  } while (at < begin);
}

struct cell {
  enum operation op;
  long bytes;
  int iterations;
  long wrong;
  double times[cap];
};

static void run_cell(struct cell* cell, const struct buffers* b, double budget, int by_clock) {
  const long count = cell->bytes / 4, block = count / ranks;
  double spent = 0;
  long slot = 0;
  cell->iterations = 0;
  cell->wrong = 0;
  for (int i = -warm_up, stop = 0; !stop; i++) {
    slot = (i + warm_up) % b->slots;
    float *s = send_of(b, slot), *d = recv_of(b, slot);
    library_barrier();
    if (by_clock) await_beat();
    const double start = MPI_Wtime();
    library_call(cell->op, s, d, count, block);
    const double took = MPI_Wtime() - start;
    if (i < 0) continue;
    cell->times[cell->iterations++] = took;
    spent += took;
    if (i == 0 || i == 3) {
      cell->wrong += count_wrong(cell->op, s, d, count, slot);
      fill(cell->op, s, d, count, slot);
    }
    if (cell->iterations % 8 == least) {
      stop = spent > budget;
      library_bcast_int(&stop);
    }
    if (cell->iterations >= cap) stop = 1;
  }
  cell->wrong += count_wrong(cell->op, send_of(b, slot), recv_of(b, slot), count, slot);
}

static void print_cell(struct cell* cell) {
  double slowest = 0;
  long wrong = 0;
  qsort(cell->times, (size_t)cell->iterations, sizeof cell->times[0], by_size);
  PMPI_Reduce(&cell->times[cell->iterations / 2], &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&cell->wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("%-15s %10ld %12.3f %6d %4ld\n", operation_names[cell->op], cell->bytes, slowest * 1e6, cell->iterations,
         wrong);
  fflush(stdout);
}

static int is_wanted(const char* list, const char* name) {
  const size_t length = strlen(name);
  if (strcmp(list, "all") == 0) return 1;
  for (const char* at = list; (at = strstr(at, name)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  return 0;
}

/* Buffers of a cell inside `memory`, which holds `bytes` of them. */
static struct buffers cut(char* memory, size_t bytes, long cell_bytes, int cold) {
  struct buffers b = {memory, ((size_t)cell_bytes + guard + page - 1) / page * page, 1};
  const size_t fit = bytes / (2 * b.pitch);
  if (cold) b.slots = fit < cap + warm_up ? (long)fit : cap + warm_up;
  return b;
}

static void run_all(const struct arguments* a) {
  const size_t largest = 2 * (((size_t)a->high + guard + page - 1) / page * page);
  const size_t bytes = a->cold && a->cold_bytes > 2 * largest ? a->cold_bytes : a->cold ? 2 * largest : largest;
  char* memory = get_memory(bytes);
  char* other = a->cold ? get_memory(bytes) : NULL;
  static struct cell cell;
  for (int op = 0; op < operation_count; op++) {
    if (!is_wanted(a->operations, operation_names[op])) continue;
    for (long size = a->low; size <= a->high; size *= 4) {
      if (op == op_barrier && size > a->low) break;
      if (op >= op_reduce_scatter && size / 4 < ranks) continue;
      cell.op = (enum operation)op;
      cell.bytes = op == op_barrier ? 0 : size;
      const struct buffers b = cut(memory, bytes, cell.bytes, a->cold);
      for (long i = 0; i < b.slots; i++) fill(cell.op, send_of(&b, i), recv_of(&b, i), cell.bytes / 4, i);
      if (a->cold) read_through(other, bytes);
      run_cell(&cell, &b, a->budget, a->by_clock);
      print_cell(&cell);
    }
  }
  free(other);
  free(memory);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 8) {
    if (rank == 0)
      fprintf(stderr, "usage: compare_peers LOW HIGH OPERATIONS|all BUDGET reuse|cold COLD_BYTES barrier|clock\n");
    MPI_Finalize();
    return 2;
  }
  const struct arguments a = {atol(argv[1]),
                              atol(argv[2]),
                              argv[3],
                              atof(argv[4]),
                              strcmp(argv[5], "cold") == 0,
                              (size_t)atoll(argv[6]),
                              strcmp(argv[7], "clock") == 0};
  library_start();
  run_all(&a);
  library_end();
  MPI_Finalize();
  return 0;
}
