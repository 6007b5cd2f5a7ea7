/* SPDX-License-Identifier: BSD-3-Clause */
/* A program, and the libraries that it is linked with: they have an MPI's name, and nothing of it. */
#if defined(TUTTI_LIBRARY)
int tutti_test_value(void) { return 0; }
#elif defined(TUTTI_LIBRARY_BETWEEN)
int tutti_test_value(void);
int tutti_test_between(void);
int tutti_test_between(void) { return tutti_test_value(); }
#elif defined(TUTTI_LATE)
int tutti_test_between(void);
int main(void) { return tutti_test_between(); }
#else
int tutti_test_value(void);
int main(void) { return tutti_test_value(); }
#endif
