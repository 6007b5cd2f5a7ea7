# SPDX-License-Identifier: BSD-3-Clause
"""The parts of training: gradient reducer, sharded optimizer, embedding tables, parameter server."""

import shutil
import tempfile

import numpy as np
from support import comm, data, equal, raises, rank, size

import tutti
import tutti.checkpoint


def gradient(of_rank, i, step, shape, dtype=np.float32):
    return data(of_rank, int(np.prod(shape)), i + step, dtype).reshape(shape)


shapes = [(3, 4), (7,), (2, 2, 2), ()]


def test_reducer():
    for in_buckets in (False, True):
        with tutti.GradientReducer(comm, op="sum", bucket_bytes=128, first_bucket_bytes=64) as reducer:
            own = [np.zeros(shape, np.float32) for shape in shapes]
            values = [np.full(shape, rank + i, np.float64) for i, shape in enumerate(shapes)]
            for i, shape in enumerate(shapes):
                if in_buckets:
                    assert reducer.add(f"p{i}", shape=shape) == i
                else:
                    assert reducer.add(f"p{i}", own[i]) == i
            for i, value in enumerate(values):
                reducer.add(f"v{i}", np.zeros_like(value), value)
            reducer.prepare()
            for i, value in enumerate(values):
                equal(value, np.full(shapes[i], i))
            for step in range(3):
                for i in reversed(range(len(reducer))):
                    shape = shapes[i % len(shapes)]
                    reducer.gradient(i)[...] = gradient(rank, i, step, shape)
                    reducer.ready(i)
                reducer.wait()
                for i in range(len(reducer)):
                    equal(reducer.gradient(i), sum(gradient(r, i, step, shapes[i % len(shapes)]) for r in range(size)))
                if not in_buckets:
                    equal(own[1], sum(gradient(r, 1, step, shapes[1]) for r in range(size)))
            statistics = reducer.statistics
            assert statistics.steps == 3 and statistics.buckets > 1 and "p0" in reducer.map()
            reducer.load(reducer.save())
            with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "v3"):
                for i in range(len(reducer)):
                    if i != len(reducer) - 1:
                        reducer.ready(i)
                reducer.wait()


def test_reducer_hooks():
    for hook in ("bf16", "fp16", "power_sgd"):
        reducer = tutti.GradientReducer(comm, hook=hook, **({"rank": 1, "start_step": 1} if hook == "power_sgd" else {}))
        g = np.full((4, 4), float(rank), np.float32)
        reducer.add("g", g)
        reducer.prepare()
        reducer.ready(0)
        reducer.wait()
        equal(g, np.full((4, 4), (size - 1) / 2))
        assert abs(reducer.clip(1.0) - 4 * (size - 1) / 2) < 1e-5
        reducer.free()
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "hook"):
        tutti.GradientReducer(comm, hook="zip")
    with raises(TypeError):
        tutti.GradientReducer(comm, hook="power_sgd", ranks=1)
    for name in ("rank", "start_step", "min_compression_rate", "error_feedback", "warm_start", "seed"):
        with raises(TypeError, text=f"argument {name} is of type str; pass"):
            tutti.GradientReducer(comm, hook="power_sgd", **{name: "some"})


def test_reducer_blocks():
    blocks = 2 * size + 1
    g = np.zeros(3, np.float32)
    with tutti.GradientReducer(comm, op="sum", blocks=blocks) as reducer:
        reducer.add("g", g)
        reducer.prepare()
        for block in range(rank * blocks // size, (rank + 1) * blocks // size):
            g[...] = [1e8 if block == 0 else -1e8 if block == 1 else 1, block, 1]
            reducer.ready(0)
        reducer.wait()
        equal(g, np.float32([blocks - 2, blocks * (blocks - 1) // 2, blocks]))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "blocks"):
        tutti.GradientReducer(comm, blocks=blocks, uneven=True)


def test_sharded_optimizer():
    reducer = tutti.GradientReducer(comm, hook="sharding")
    w, g = np.arange(10.0), np.zeros(10)
    reducer.add("w", g, w)
    reducer.prepare()
    optimizer = tutti.ShardedOptimizer(reducer, "sgd", momentum=0.0)
    for step in range(3):
        g[:] = rank + step
        reducer.ready(0)
        reducer.wait()
        before = w.copy()
        assert optimizer.step(0.5) == 0
        equal(w, before - 0.5 * ((size - 1) / 2 + step))
    state = optimizer.save()
    optimizer.load(state)
    optimizer.free()
    reducer.free()


def bags_of(batch, rows, step):
    """Bag b has indices b % 3 many."""
    lengths = [b % 3 for b in range(batch)]
    offsets = np.cumsum([0] + lengths).astype(np.int64)
    return ((np.arange(offsets[-1]) * 7 + step) % rows).astype(np.int64), offsets


def test_lookup_shares():
    def plan(*shares):
        table = tutti.EmbeddingTable("t", 100, 8, sharding="row_wise", lookup_shares=shares)
        return str(tutti.plan_sharding(comm, [table], 64))
    assert plan() != plan(15, 1)
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "lookup_shares of table 0 't'"):
        plan(1, -1)


def test_frequencies():
    counted = tutti.count_rows([7, 7, 7, 5, 5, 2, 3], hottest=2)
    assert (counted.hot_rows, counted.hot_lookups) == ([7, 5], [3, 2])
    assert (counted.bucket_rows, counted.bucket_lookups) == ([2], [2])

    def plan(order="automatic", frequencies=None):
        table = tutti.EmbeddingTable("t", 100, 8, sharding="row_wise", row_order=order, frequencies=frequencies)
        return tutti.plan_sharding(comm, [table], 64)
    assert [s.row_step for s in plan("cyclic").shards] == [size] * size
    assert [s.row_step for s in plan("blocks", counted).shards] == [1] * size
    assert str(plan("cyclic")) != str(plan("cyclic", counted))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "frequencies of table 0 't' name a hot row twice"):
        plan(frequencies=tutti.RowFrequencies(hot_rows=[1, 1], hot_lookups=[1, 1]))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "a bucket with lookups and no rows"):
        plan(frequencies=tutti.RowFrequencies(bucket_rows=[0], bucket_lookups=[1]))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "row_order"):
        plan("diagonal")


def test_embeddings():
    for order in ("blocks", "cyclic"):
        check_embeddings(order)


def check_increments(collection, weights, batch, rate, folder):
    """Only row 4 changes, and the reader finds the checkpoint as the collection is."""
    weights = [table.copy() for table in weights]
    for number in range(1, 4):
        if number == 2:
            collection.start_save(folder, incremental=True)
            collection.finish_save()
        else:
            collection.save(folder, incremental=True)
        saved = tutti.checkpoint.open(folder)
        saved.verify()
        assert [save.number for save in saved.saves] == list(range(1, number + 1))
        assert all(save.parts == size for save in saved.saves) and saved.steps() == collection.steps
        for table, name in zip(weights, ("small", "large")):
            equal(saved.tables()[name][:], table)
        comm.barrier()
        bags = [(np.full(batch, 4), np.arange(batch + 1))] * 2
        collection.start_forward(bags, batch)
        collection.finish_forward()
        for gradients in collection.gradients():
            gradients[...] = 0.25
        collection.start_backward()
        collection.finish_backward(rate)
        for table in weights:
            table[4] -= rate * 0.25 * batch


def check_embeddings(order):
    tables = [tutti.EmbeddingTable("small", 5, 4),
              tutti.EmbeddingTable("large", 40, 8, sharding="row_wise", row_order=order)]
    batch, rate = 4 * size, 0.5
    weights = [np.arange(t.rows * t.dim, dtype=np.float32).reshape(t.rows, t.dim) % 16 for t in tables]
    plan = tutti.plan_sharding(comm, tables, batch)
    assert "large" in str(plan) and plan.shards
    with tutti.EmbeddingCollection(comm, tables, plan, max_batch=batch) as collection:
        for t, table in enumerate(weights):
            collection.fill(t, lambda begin, end, values: values.__setitem__(slice(None), table[begin:end]))
        mine = collection.sample_slice(batch)
        for step in range(3):
            bags = [bags_of(batch, t.rows, step) for t in tables]
            collection.start_forward([b if collection.needs(t) else None for t, b in enumerate(bags)], batch)
            for t, vectors in enumerate(collection.finish_forward()):
                indices, offsets = bags[t]
                pooled = np.stack([weights[t][indices[offsets[b] : offsets[b + 1]]].sum(0) for b in range(batch)])
                equal(vectors, pooled[mine])
            for t, gradients in enumerate(collection.gradients()):
                gradients[...] = np.arange(batch, dtype=np.float32)[mine, None] + t
            collection.start_backward()
            collection.finish_backward(rate)
            for t, (indices, offsets) in enumerate(bags):
                for b in range(batch):
                    for row in indices[offsets[b] : offsets[b + 1]]:
                        weights[t][row] -= rate * np.float32(b + t)
        for i, shard in enumerate(collection.shards):
            equal(collection.read_rows(i), weights[shard.table][shard.row_begin : shard.row_end : shard.row_step,
                                                                shard.column_begin : shard.column_end])
        assert collection.steps == 3
        bad = bags_of(batch, 5, 0)
        bad[0][0] = 5
        with raises(tutti.Error, tutti.ErrorCode.INDEX_OUT_OF_RANGE, "5"):
            collection.start_forward([bad, bags_of(batch, 40, 0)], batch)
        with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "offsets"):
            collection.start_forward([(bad[0], bad[1][1:]) if rank == 0 else bad, bags_of(batch, 40, 0)], batch)
        name = np.full(256, ord(" "), np.uint8)
        if rank == 0:
            own = tempfile.mkdtemp().encode()
            name[: len(own)] = list(own)
        comm.bcast(name)
        folder = name.tobytes().decode().strip()
        collection.save(folder)
        assert collection.test_save()
        collection.start_save(folder)
        assert not collection.test_save()
        collection.finish_save()
        collection.start_save(folder)
        while not collection.test_save():
            pass
        collection.start_save("/dev/null")
        with raises(tutti.Error, tutti.ErrorCode.IO, "/dev/null"):
            collection.finish_save()
        check_increments(collection, weights, batch, rate, folder + "/increments")
        collection.initialize()
        collection.load(folder)
        comm.barrier()
        if rank == 0:
            shutil.rmtree(folder)
        for i, shard in enumerate(collection.shards):
            equal(collection.read_rows(i), weights[shard.table][shard.row_begin : shard.row_end : shard.row_step,
                                                                shard.column_begin : shard.column_end])


def test_vectors_travel_in_16_bits():
    """They are close to the sums, and are not the sums where there are several ranks."""
    tables = [tutti.EmbeddingTable("t", 4 * size, 8, sharding="row_wise")]
    batch = 4 * size
    indices, offsets = np.arange(batch), np.arange(batch + 1)
    values = (1 + (np.arange(batch * 8, dtype=np.float32) + 1) / 10000).reshape(batch, 8)
    plan = tutti.plan_sharding(comm, tables, batch, exchange_dtype="bfloat16")
    assert plan.seconds <= tutti.plan_sharding(comm, tables, batch).seconds
    for dtype, bits in (("bfloat16", 8), ("float16", 11)):
        with tutti.EmbeddingCollection(comm, tables, plan, max_batch=batch, exchange_dtype=dtype) as collection:
            collection.fill(0, lambda begin, end, rows: rows.__setitem__(slice(None), values[begin:end]))
            collection.start_forward([(indices, offsets)], batch)
            vectors = np.array(collection.finish_forward()[0])
            mine = values[collection.sample_slice(batch)]
            assert np.abs(vectors - mine).max() <= 2.0**-bits * mine.max(), dtype
            assert np.array_equal(vectors, mine) == (size == 1), dtype
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "exchange_dtype is 'int8'"):
        tutti.EmbeddingCollection(comm, tables, plan, max_batch=batch, exchange_dtype="int8")


def test_tables_in_files():
    """They train to the same rows as tables in memory, and say which option is missing."""
    rows, batch = 3000, 8 * size
    tables = [tutti.EmbeddingTable("t", rows, 8, sharding="row_wise")]
    trained = []
    for files in ({}, {"table_memory": 4096, "table_folder": tempfile.gettempdir()}):
        with tutti.EmbeddingCollection(comm, tables, max_batch=batch, optimizer="adagrad", **files) as collection:
            collection.initialize()
            for step in range(5):
                indices = (np.arange(batch) * 131 + step * 977) % rows
                collection.start_forward([(indices, np.arange(batch + 1))], batch)
                vectors = np.array(collection.finish_forward()[0])
                collection.gradients()[0][:] = vectors + step
                collection.start_backward()
                collection.finish_backward(0.1)
            trained.append([np.array(collection.read_rows(i)) for i in range(len(collection.shards))])
    assert all(np.array_equal(a, b) for a, b in zip(*trained, strict=True))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT, "table_folder is empty"):
        tutti.EmbeddingCollection(comm, tables, max_batch=batch, table_memory=4096)


def test_parameter_server():
    for direct in (True, False):
        with tutti.ParameterServer(comm, 10, 3, direct=direct) as server:
            local = server.local()
            local[...] = np.arange(server.first_row, server.first_row + len(local))[:, None]
            server.fence()
            equal(server.pull(np.array([9, 0, 4])), [[9.0] * 3, [0.0] * 3, [4.0] * 3])
            server.fence()
            server.push(np.array([4, 4]), np.ones((2, 3), np.float32), 0.5)
            server.fence()
            equal(server.pull(np.array([4])), [[4.0 - size] * 3])
            with raises(tutti.Error, tutti.ErrorCode.INDEX_OUT_OF_RANGE):
                server.pull(np.array([10]))
            with raises(TypeError, text="int64"):
                server.pull(np.array([1], np.int32))
    tutti.ParameterServer(comm, 4, 1)  # freed before MPI_Finalize
