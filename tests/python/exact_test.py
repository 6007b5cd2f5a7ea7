# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums, against the fractions of Python."""

from fractions import Fraction

import numpy as np
from collectives_test import in_three_forms
from support import comm, raises, rank, size

import tutti


def exactly(values):
    """The sum of finite float64, rounded by Python, whose division of integers rounds right."""
    total = sum((Fraction(float(v)) for v in values), Fraction(0))
    return total.numerator / total.denominator


def numbers(seed, count, low=-300, high=300):
    random = np.random.default_rng(seed)
    return np.ldexp(random.uniform(-1, 1, count), random.integers(low, high, count))


def mine(values):
    return values[rank::size].copy()


def test_sum():
    for seed in range(200):
        every = numbers(seed, 60)
        every[1::2] = -every[::2] if seed % 2 else every[1::2]
        sums = np.zeros(1)
        comm.exact_sum(mine(every), sums)
        assert sums[0] == exactly(every), (seed, sums[0], exactly(every))


def test_forms_fields_weights_and_masks():
    own, sums = np.empty((2, 12)), np.empty(2)
    weights = np.full(12, 0.5)
    mask = np.arange(12) % 3 == 0
    every = [None]

    def before(i):
        every[0] = [[numbers(100 * f + 10 * r + i, 12) for r in range(size)] for f in range(2)]
        for f in range(2):
            own[f] = every[0][f][rank]

    def after(i):
        for f in range(2):
            assert sums[f] == exactly(np.concatenate([x[mask] * 0.5 for x in every[0][f]]))

    in_three_forms("exact_sum", own, sums, weights, mask, before=before, after=after)


def test_dot_and_norm():
    x, y = numbers(1, 40, -20, 20), numbers(2, 40, -20, 20)
    dots = np.zeros(1)
    comm.exact_dot(mine(x), mine(y), dots)
    total = sum((Fraction(a) * Fraction(b) for a, b in zip(map(float, x), map(float, y))), Fraction(0))
    assert dots[0] == total.numerator / total.denominator
    comm.iexact_norm2(np.array([3.0, 4.0]) if rank == 0 else np.empty(0), dots).wait()
    assert dots[0] == 5


def test_strides_and_types():
    matrix = np.arange(24, dtype=np.float32).reshape(8, 3)
    sums = np.zeros(3, np.float32)
    comm.exact_sum(matrix.T, sums)
    assert (sums == matrix.sum(axis=0) * size).all()
    halves = np.full(5000, 1.5, np.float16)
    total = np.zeros(1, np.float64)
    comm.exact_sum(halves, total)
    assert total[0] == 7500 * size
    z = np.array([1 + 2j, 3 - 1j])
    product = np.zeros(1, np.complex128)
    comm.exact_dot(z, z, product)
    assert product[0] == 15 * size


def test_moments_and_locations():
    values = np.array([1.0, 3.0])
    means = np.zeros(1)
    comm.exact_mean(values, means, np.array([3.0, 1.0]))
    assert means[0] == 1.5
    assert comm.exact_variance(values) == (2.0, 1.0)
    assert comm.exact_minloc(np.array([2.0, 1.0, 1.0]), 3 * rank) == (1.0, 1)
    assert comm.exact_maxloc(np.array([2.0, 1.0, 1.0]), 3 * rank, mask=np.array([False, True, True])) == (1.0, 1)


def test_accumulators():
    every = numbers(7, 50)
    part, other = tutti.ExactSum(), tutti.ExactSum()
    own = mine(every)
    part.add(own[:5])
    other.add(own[5:])
    part += other
    assert float(comm.exact_total(part)) == exactly(every)
    small = tutti.ExactSum()
    small.add(np.array([1.0, 2.0**-30]))
    assert small.rounded("float32") == 1.0


def test_accumulation():
    x = np.array([2.0**60 if rank == 0 else -(2.0**60) if rank == size - 1 else 1.0])
    total = np.zeros(1)
    comm.allreduce(x, total, accumulation="exact")
    assert total[0] == (2.0**60 if size == 1 else size - 2)
    if size > 1:
        with raises(tutti.Error, tutti.ErrorCode.INVALID_ALGORITHM, "one rounding"):
            comm.allreduce(x, total, accumulation="exact", algorithm="ring")
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "'full', 'backend' or 'exact'"):
        comm.allreduce(x, total, accumulation="none")


def test_wrong_calls():
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "do not divide"):
        comm.exact_sum(np.zeros(3), np.zeros(2))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_DATATYPE, "values has datatype int64"):
        comm.exact_sum(np.zeros(3, np.int64), np.zeros(1))
