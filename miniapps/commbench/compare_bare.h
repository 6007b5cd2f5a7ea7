/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives of compare_peers.c as bare loops of two processes: a bound for every library. They check nothing,
   know one datatype and one operation, and rely on the barrier that follows each call. Each cell goes by the fastest of
   some ways, which its first call tries: through lines that carry their flags, through a slot of shared memory, by
   copies of the kernel that the taker makes, and by copies of which each side makes one half. */
#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum way { by_lines, by_slot, by_taker, by_halves, way_count };
enum { line_payload = 56, bare_lines = 16, slot_size = 1 << 20, least_kernel = 1024, bare_chunk = 4096 };

struct bare_line {
  _Alignas(64) _Atomic uint64_t flag;
  char payload[line_payload];
};

/* What one process writes and the other reads. */
struct bare_side {
  struct bare_line lines[bare_lines];
  _Alignas(64) _Atomic uint64_t barrier;
  _Alignas(64) _Atomic uint64_t ready; /* the call and its chunks */
  const char* from;
  char* into;
  _Alignas(64) _Atomic uint64_t done;
  _Alignas(64) _Atomic uint64_t result; /* the second half of an allreduce, as `ready` */
  _Alignas(64) double time;
  int stop, can_copy;
  pid_t process;
  _Alignas(4096) char slot[slot_size];
};

static struct {
  struct bare_side *mine, *theirs;
  int me, can_copy;
  uint64_t call, barriers;
  float* scratch;
  size_t scratch_bytes;
} bare;

static void bare_fail(const char* what) {
  fprintf(stderr, "compare_peers: bare loops: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void bare_wait(_Atomic uint64_t* word, uint64_t value) {
  while (atomic_load_explicit(word, memory_order_acquire) < value) {
  }
}
static void bare_tell(_Atomic uint64_t* word, uint64_t value) {
  atomic_store_explicit(word, value, memory_order_release);
}

static void library_barrier(void) {
  bare_tell(&bare.mine->barrier, ++bare.barriers);
  bare_wait(&bare.theirs->barrier, bare.barriers);
}

static void library_bcast_int(int* x) {
  bare.mine->stop = *x;
  library_barrier();
  if (bare.me != 0) *x = bare.theirs->stop;
  library_barrier();
}

/* Whether the kernel lets both read the other's memory. */
static void bare_try_to_copy(void) {
  char word;
  const struct iovec mine = {&word, 1}, theirs = {(void*)(uintptr_t)bare.theirs->from, 1};
  bare.mine->can_copy = process_vm_readv(bare.theirs->process, &mine, 1, &theirs, 1, 0) == 1;
  MPI_Barrier(MPI_COMM_WORLD);
  bare.can_copy = bare.mine->can_copy && bare.theirs->can_copy;
}

static void library_start(void) {
  int size = 0, told[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &bare.me);
  if (size != 2) bare_fail("two ranks only");
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  if (bare.me == 0) {
    told[0] = (int)getpid();
    told[1] = memfd_create("bare", 0);
    if (ftruncate(told[1], 2 * sizeof(struct bare_side)) != 0) bare_fail("no shared memory");
  }
  MPI_Bcast(told, 2, MPI_INT, 0, MPI_COMM_WORLD);
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", told[0], told[1]);
  const int file = open(name, O_RDWR);
  struct bare_side* both = mmap(NULL, 2 * sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (both == MAP_FAILED) bare_fail("cannot map the shared memory");
  bare.mine = &both[bare.me];
  bare.theirs = &both[1 - bare.me];
  memset(bare.mine, 0, sizeof *bare.mine);
  bare.mine->process = getpid();
  bare.mine->from = (const char*)&bare;
  MPI_Barrier(MPI_COMM_WORLD);
  bare_try_to_copy();
}
static void library_end(void) { free(bare.scratch); }

static float* bare_scratch(size_t bytes) {
  if (bytes > bare.scratch_bytes) {
    free(bare.scratch);
    bare.scratch = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(bare.scratch, 0, bytes);
    bare.scratch_bytes = bytes;
  }
  return bare.scratch;
}

static void bare_add(float* sum, const float* a, const float* b, size_t bytes) {
  for (size_t i = 0; i < bytes / 4; i++) sum[i] = a[i] + b[i];
}

static void kernel_copy(int reads, const char* there, const char* here, size_t bytes) {
  while (bytes > 0) {
    const struct iovec mine = {(void*)(uintptr_t)here, bytes}, theirs = {(void*)(uintptr_t)there, bytes};
    const ssize_t moved = (reads ? process_vm_readv : process_vm_writev)(bare.theirs->process, &mine, 1, &theirs, 1, 0);
    if (moved <= 0) bare_fail("the kernel refuses to copy");
    here += moved;
    there += moved;
    bytes -= (size_t)moved;
  }
}

/* Takes data that came from the other process: copies them, or adds them to `own`. */
static void bare_put(char* to, const char* data, const char* own, size_t bytes) {
  if (own != NULL)
    bare_add((float*)to, (const float*)own, (const float*)data, bytes);
  else if (to != data)
    memcpy(to, data, bytes);
}

static void give_lines(const char* from, size_t bytes) {
  struct bare_line* line = bare.mine->lines;
  for (; bytes > line_payload; bytes -= line_payload, from += line_payload, line++) {
    memcpy(line->payload, from, line_payload);
    bare_tell(&line->flag, bare.call);
  }
  memcpy(line->payload, from, bytes);
  bare_tell(&line->flag, bare.call);
}

static void take_lines(char* to, const char* own, size_t bytes) {
  struct bare_line* line = bare.theirs->lines;
  for (size_t at = 0; at < bytes; at += line_payload, line++) {
    const size_t part = bytes - at < line_payload ? bytes - at : line_payload;
    bare_wait(&line->flag, bare.call);
    bare_put(to + at, line->payload, own == NULL ? NULL : own + at, part);
  }
}

static size_t chunk_at(size_t at, size_t bytes) { return bytes - at < bare_chunk ? bytes - at : bare_chunk; }

static void give_slot(_Atomic uint64_t* told, char* room, const char* from, size_t bytes) {
  for (size_t at = 0, chunk = 1; at < bytes; at += bare_chunk, chunk++) {
    memcpy(room + at, from + at, chunk_at(at, bytes));
    bare_tell(told, bare.call << 16 | chunk);
  }
}

static void take_slot(_Atomic uint64_t* told, const char* room, char* to, const char* own, size_t bytes) {
  for (size_t at = 0, chunk = 1; at < bytes; at += bare_chunk, chunk++) {
    bare_wait(told, bare.call << 16 | chunk);
    bare_put(to + at, room + at, own == NULL ? NULL : own + at, chunk_at(at, bytes));
  }
}

static size_t half_of(size_t bytes) { return bytes / 2 / 64 * 64; }

/* One call gives `given` from `from`, and takes `taken` into `to`, by adding to `own` if that is not null. */
struct transfer {
  const char* from;
  size_t given;
  char* to;
  size_t taken;
  const char* own;
  const char* kept; /* the block that stays here, of `kept_bytes`, goes to `kept_to` */
  char* kept_to;
  size_t kept_bytes;
};

static void keep(const struct transfer* t) {
  if (t->kept_bytes > 0) memcpy(t->kept_to, t->kept, t->kept_bytes);
}

static void transfer_in_memory(const struct transfer* t, enum way way) {
  if (way == by_lines && t->given > 0) give_lines(t->from, t->given);
  if (way == by_slot && t->given > 0) give_slot(&bare.mine->ready, bare.mine->slot, t->from, t->given);
  keep(t);
  if (way == by_lines && t->taken > 0) take_lines(t->to, t->own, t->taken);
  if (way == by_slot && t->taken > 0) take_slot(&bare.theirs->ready, bare.theirs->slot, t->to, t->own, t->taken);
}

/* Both processes tell where their buffers are. */
static void show_buffers(const char* from, char* into) {
  bare.mine->from = from;
  bare.mine->into = into;
  bare_tell(&bare.mine->ready, bare.call << 16 | 1);
  bare_wait(&bare.theirs->ready, bare.call << 16 | 1);
}

static void transfer_by_kernel(const struct transfer* t, enum way way) {
  show_buffers(t->from, t->to);
  const int halves = way == by_halves;
  if (t->taken > 0) {
    const size_t part = halves ? half_of(t->taken) : t->taken;
    char* at = t->own == NULL ? t->to : (char*)bare_scratch(part);
    kernel_copy(1, bare.theirs->from, at, part);
    if (t->given == 0) bare_tell(&bare.mine->done, bare.call);
    bare_put(t->to, at, t->own, part);
  }
  if (t->given > 0 && halves) {
    const size_t first = half_of(t->given);
    kernel_copy(0, bare.theirs->into + first, t->from + first, t->given - first);
  }
  keep(t);
  if (t->taken == 0 || t->given > 0) bare_tell(&bare.mine->done, bare.call);
  bare_wait(&bare.theirs->done, bare.call);
}

/* An allreduce in which each process makes one half of the result. */
static void allreduce_in_parts(const char* s, char* d, size_t bytes, enum way way) {
  const size_t first = half_of(bytes), begin = bare.me == 0 ? 0 : first, end = bare.me == 0 ? first : bytes;
  const size_t theirs = bare.me == 0 ? first : 0, length = end - begin, other = bytes - length;
  if (way == by_slot) {
    give_slot(&bare.mine->ready, bare.mine->slot, s + theirs, other);
    take_slot(&bare.theirs->ready, bare.theirs->slot, d + begin, s + begin, length);
    char *room = bare.mine->slot + slot_size / 2, *there = bare.theirs->slot + slot_size / 2;
    give_slot(&bare.mine->result, room, d + begin, length);
    take_slot(&bare.theirs->result, there, d + theirs, NULL, other);
    return;
  }
  show_buffers(s, d);
  const size_t piece = 256 << 10;
  char* copy = (char*)bare_scratch(piece);
  for (size_t at = begin; at < end; at += piece) {
    const size_t part = end - at < piece ? end - at : piece;
    kernel_copy(1, bare.theirs->from + at, copy, part);
    bare_add((float*)(d + at), (const float*)(s + at), (const float*)copy, part);
    kernel_copy(0, bare.theirs->into + at, d + at, part);
  }
  bare_tell(&bare.mine->done, bare.call);
  bare_wait(&bare.theirs->done, bare.call);
}

static struct transfer transfer_of(enum operation op, const char* s, char* d, size_t bytes, size_t block) {
  const size_t me = (size_t)bare.me, other = 1 - me;
  struct transfer t = {s, 0, d, 0, NULL, NULL, NULL, 0};
  switch (op) {
    case op_bcast:
      t.to = (char*)(uintptr_t)s;
      *(me == 0 ? &t.given : &t.taken) = bytes;
      break;
    case op_reduce:
      *(me == 1 ? &t.given : &t.taken) = bytes;
      t.own = s;
      break;
    case op_scatter:
      *(me == 0 ? &t.given : &t.taken) = block;
      t.from = s + block;
      break;
    case op_gather:
      *(me == 1 ? &t.given : &t.taken) = block;
      t.to = d + block;
      break;
    case op_reduce_scatter:
    case op_alltoall:
      t.from = s + other * block;
      t.given = t.taken = block;
      if (op == op_alltoall)
        t.to = d + other * block;
      else
        t.own = s + me * block;
      break;
    case op_allgather:
      t.to = d + other * block;
      t.given = t.taken = block;
      break;
    default:
      t.given = t.taken = bytes;
      t.own = s;
  }
  const int keeps = op == op_allgather || op == op_alltoall || ((op == op_scatter || op == op_gather) && me == 0);
  if (keeps) {
    t.kept = op == op_alltoall ? s + me * block : s;
    t.kept_to = op == op_allgather || op == op_alltoall ? d + me * block : d;
    t.kept_bytes = block;
  }
  return t;
}

static int is_possible(enum operation op, enum way way, size_t bytes, size_t block) {
  const size_t moved = op == op_bcast || op == op_reduce || op == op_allreduce ? bytes : block;
  const int adds = op == op_reduce || op == op_reduce_scatter || op == op_allreduce;
  if (way == by_lines) return moved <= line_payload * bare_lines;
  if (way == by_slot) return moved <= slot_size;
  if (!bare.can_copy) return 0;
  if (op == op_allreduce && way == by_halves) return moved >= least_kernel;
  return moved >= least_kernel && (way == by_taker || !adds);
}

static void call_by(enum operation op, enum way way, const char* s, char* d, size_t bytes, size_t block) {
  bare.call++;
  if (op == op_allreduce && (way == by_halves || (way == by_slot && bytes > bare_chunk)))
    return allreduce_in_parts(s, d, bytes, way);
  const struct transfer t = transfer_of(op, s, d, bytes, block);
  (way == by_lines || way == by_slot ? transfer_in_memory : transfer_by_kernel)(&t, way);
}

/* The median of some calls, on the slower process. */
static double try_way(enum operation op, enum way way, const char* s, char* d, size_t bytes, size_t block) {
  enum { most = 101 };
  const int times = bytes > (1 << 20) ? 3 : most;
  double took[most];
  for (int i = 0; i < times; i++) {
    library_barrier();
    const double start = MPI_Wtime();
    call_by(op, way, s, d, bytes, block);
    took[i] = MPI_Wtime() - start;
  }
  qsort(took, (size_t)times, sizeof took[0], by_size);
  bare.mine->time = took[times / 2];
  library_barrier();
  const double slower = bare.mine->time > bare.theirs->time ? bare.mine->time : bare.theirs->time;
  library_barrier();
  return slower;
}

static void library_call(enum operation op, float* send, float* recv, long count, long block_count) {
  static enum operation op_before = operation_count;
  static long count_before = -1;
  static enum way best;
  const char* s = (const char*)send;
  char* d = (char*)recv;
  const size_t bytes = 4 * (size_t)count, block = 4 * (size_t)block_count;
  if (op == op_barrier) return library_barrier();
  if (op != op_before || count != count_before) {
    op_before = op;
    count_before = count;
    double least = 1e9;
    for (int way = 0; way < way_count; way++) {
      if (!is_possible(op, (enum way)way, bytes, block)) continue;
      const double time = try_way(op, (enum way)way, s, d, bytes, block);
      if (time < least) {
        least = time;
        best = (enum way)way;
      }
    }
    library_barrier();
    if (least == 1e9) bare_fail("the kernel refuses copies between processes, and this call is too long without them");
  }
  call_by(op, best, s, d, bytes, block);
}
