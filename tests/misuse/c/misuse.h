/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MISUSE_C_MISUSE_H
#define TUTTI_TESTS_MISUSE_C_MISUSE_H

#include <stddef.h>
#include <stdint.h>
#include <tutti/tutti.h>

/* What a wrong use may work with. */
struct place {
  tutti_comm_t comm;
  int rank;
  int size;
};

enum { most_remedies = 3 };

/* A wrong use, and what its text must contain: the argument, and a sentence that says what to do. */
struct misuse {
  const char* name;
  int (*use)(const struct place* place); /* returns the code of the call that must fail */
  int code;
  const char* argument;
  const char* remedies[most_remedies]; /* one of them; each begins with a verb */
  int breaks;                          /* the communicator is of no more use afterwards */
};

/* Ends with an entry without a name. */
extern const struct misuse handle_misuses[];
extern const struct misuse argument_misuses[];
extern const struct misuse disagreements[];

/* A call that must succeed, in a misuse. */
void must_succeed(int code);

#define USE(name, call)                    \
  static int name(const struct place* p) { \
    float a[8] = {1, 1, 1, 1, 1, 1, 1, 1}; \
    float b[8] = {0};                      \
    (void)p, (void)a, (void)b;             \
    return call;                           \
  }

#endif
