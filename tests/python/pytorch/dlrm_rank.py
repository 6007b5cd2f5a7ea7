# SPDX-License-Identifier: BSD-3-Clause
"""Runs dlrm_s_pytorch.py as it is on this rank, behind `import tutti.torch`, and keeps the losses that it prints:
dlrm_rank.py PROGRAM unchanged|alike FLAGS... They go to losses.RANK in the current folder.

The program starts its tables with other numbers on several ranks than on one, and trains them with gradients that are
not divided by the number of ranks. `alike` makes both as on one rank, so that losses can be compared.
"""

import builtins
import importlib
import importlib.machinery
import json
import os
import pathlib
import re
import sys
import unittest.mock

import tutti.torch  # noqa: F401  (registers the backend and sets RANK and WORLD_SIZE)


def stand_in_for(names):
    """Modules that the program imports, but does not need for losses."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            spec = importlib.machinery.ModuleSpec(name, None)
            sys.modules[name] = unittest.mock.MagicMock(__spec__=spec)


def keep_losses(kept):
    """Collects what every rank prints; the program itself prints on rank 0 only."""
    printed = builtins.print

    def keep(*arguments, **keywords):
        said = " ".join(map(str, arguments))
        kept.extend(float(loss) for loss in re.findall(r"Finished training.* loss ([0-9.]+)", said))
        printed(*arguments, **keywords)

    builtins.print = keep


def take_old_keywords(profiler):
    """PyTorch 2.14 has dropped a keyword of its profiler that the program passes."""
    new = profiler.profile
    profiler.profile = lambda enabled, use_cuda=False, **keywords: new(enabled, **keywords)


def start_alike(program, ranks):
    """Tables and towers start as on one rank, and tables take the mean of the ranks' gradients."""
    create = program.DLRM_Net.create_emb

    def mean_of(_table, _bags, vectors):
        if vectors.requires_grad:
            vectors.register_hook(lambda gradient: gradient / ranks.my_size)

    def create_all(net, *arguments):
        size, program.ext_dist.my_size = ranks.my_size, 1
        tables, weights = create(net, *arguments)
        program.ext_dist.my_size = size
        local = range(len(tables)) if size == 1 else net.local_emb_indices
        for index in local:
            tables[index].register_forward_hook(mean_of)
        return program.nn.ModuleList(tables[index] for index in local), [weights[index] for index in local]

    program.DLRM_Net.create_emb = create_all


def main():
    path, mode = sys.argv[1:3]
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path, *sys.argv[3:]]
    stand_in_for(["sklearn", "sklearn.metrics", "torch.utils.tensorboard", "tqdm"])
    kept = []
    ranks = importlib.import_module("extend_distributed")
    keep_losses(kept)
    program = importlib.import_module("dlrm_s_pytorch")
    take_old_keywords(program.torch.autograd.profiler)
    if mode == "alike":
        start_alike(program, ranks)
    program.run()
    pathlib.Path(f"losses.{os.environ['RANK']}").write_text(json.dumps(kept), encoding="utf-8")
    if ranks.my_size > 1:
        ranks.dist.destroy_process_group()


main()
