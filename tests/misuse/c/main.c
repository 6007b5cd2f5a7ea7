/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong uses, one a row: each ends within 10 seconds, on every rank, with a text that names the argument, the rank and
 * a remedy, and leaves the communicator usable if ranks did not disagree. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "misuse.h"

enum { seconds = 10 };

static int failures = 0;
static const char* running = "nothing";

void must_succeed(int code) {
  if (code == TUTTI_SUCCESS) return;
  ++failures;
  fprintf(stderr, "%s: a good call failed: %s\n", running, tutti_error_message());
}

static void expect(int condition, const char* what, const char* text) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "%s: %s: %s\n", running, what, text);
}

/* Whether a sentence of the text begins so, with a verb that tells what to do. */
static int has_remedy(const char* text, const char* const* remedies) {
  static const char* const verbs[] = {"call ", "choose ", "correct ", "create ", "free ",  "give ", "initialise ",
                                      "let ",  "make ",   "pass ",    "set ",    "start ", "use ",  "wait "};
  for (int i = 0; i < most_remedies && remedies[i] != NULL; ++i) {
    int is_imperative = 0;
    for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; ++v)
      is_imperative |= strncmp(remedies[i], verbs[v], strlen(verbs[v])) == 0;
    const char* found = strstr(text, remedies[i]);
    if (is_imperative && found != NULL && found - text >= 2 && strchr(";,", found[-2]) != NULL) return 1;
  }
  return 0;
}

/* "rank 1 " or "rank 1:", but not "rank 12". */
static int names_rank(const char* text, int rank) {
  char words[24];
  const int length = snprintf(words, sizeof words, "rank %d", rank);
  for (const char* at = strstr(text, words); at != NULL; at = strstr(at + 1, words))
    if (at[length] < '0' || at[length] > '9') return 1;
  return 0;
}

static void try_one(const struct misuse* misuse, struct place place) {
  tutti_comm_t own = TUTTI_COMM_NULL;
  running = misuse->name;
  if (misuse->breaks) {
    must_succeed(tutti_comm_duplicate(MPI_COMM_WORLD, &own));
    place.comm = own;
  }
  alarm(seconds); /* a hang ends the program */
  const int code = misuse->use(&place);
  char text[2048];
  snprintf(text, sizeof text, "%s", tutti_error_message());
  expect(code == misuse->code, "another code", text);
  expect(strstr(text, misuse->argument) != NULL, "the argument is not named", text);
  expect(names_rank(text, place.rank), "the rank is not named", text);
  expect(has_remedy(text, misuse->remedies), "no remedy", text);
  if (misuse->breaks) {
    must_succeed(tutti_comm_free(&own));
  } else {
    int x = 1;
    must_succeed(tutti_allreduce(place.comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT32, TUTTI_SUM, NULL));
    expect(x == place.size, "the communicator is not what it was", "");
  }
  alarm(0);
}

static void try_all(const struct misuse* all, const struct place* place) {
  for (; all->name != NULL; ++all) try_one(all, *place);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct place place = {TUTTI_COMM_NULL, 0, 0};
  must_succeed(tutti_comm_duplicate(MPI_COMM_WORLD, &place.comm));
  must_succeed(tutti_comm_rank(place.comm, &place.rank));
  must_succeed(tutti_comm_size(place.comm, &place.size));
  try_all(handle_misuses, &place);
  try_all(argument_misuses, &place);
  try_all(disagreements, &place);
  must_succeed(tutti_comm_free(&place.comm));
  int total = 0;
  MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (place.rank == 0) printf("%d failures\n", total);
  MPI_Finalize();
  return total == 0 ? 0 : 1;
}
