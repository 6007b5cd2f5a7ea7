# SPDX-License-Identifier: BSD-3-Clause
"""The Adult data that ships with Tutti: the test AUC after a short training agrees on every number of ranks."""
import json

import support


def mlperf_lines(path):
    """Keys and lines of the log."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split(" ", 1) for line in file]
    support.expect("each line has MLPerf's mark", all(mark == ":::MLLOG" for mark, _ in lines))
    return {line["key"]: line for line in (json.loads(text) for _, text in lines)}


def check_log(path, results, status):
    log = mlperf_lines(path)
    tests = results["tests"]
    support.expect(f"the AUC of the log is that of the test: {log['eval_accuracy']}",
                   log["eval_accuracy"]["value"] == tests[-1]["auc"] == results["test"]["auc"])
    support.expect(f"its epoch: {log['eval_accuracy']}", log["eval_accuracy"]["metadata"]["epoch_num"] == 1)
    support.expect(f"the status: {log['run_stop']}", log["run_stop"]["metadata"]["status"] == status)
    support.expect("intervals have their events", [log[key]["event_type"] for key in ("run_start", "seed", "run_stop")] ==
                   ["INTERVAL_START", "POINT_IN_TIME", "INTERVAL_END"])
    support.expect("the run lies within its beginning and end", log["init_start"]["time_ms"] <= log["run_start"]["time_ms"]
                   <= log["eval_start"]["time_ms"] <= log["eval_stop"]["time_ms"] <= log["run_stop"]["time_ms"])
    support.expect(f"two tests have a history: {tests}", [test["iteration"] for test in tests] == [30, 60])
    support.expect(f"it is calibrated: {tests[-1]}", 0.7 < tests[-1]["calibration"] < 1.3)
    support.expect(f"it knows more than the share: {tests[-1]}", tests[-1]["normalized_entropy"] < 0.9)


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    first = None
    for ranks in map(int, args.ranks.split(",")):
        threshold = "1" if ranks > 1 else "0"
        results = runner.train(ranks, ["--preset=adult", "--nepochs=1", "--num-batches=60", "--test-freq=30",
                                       "--mlperf-log=" + runner.path("mlperf.log"), "--mlperf-auc-threshold=" + threshold])
        check_log(runner.path("mlperf.log"), results, "aborted" if ranks > 1 else "success")
        auc = results["test"]["auc"]
        print(f"{ranks} ranks: test AUC {auc:.6f}")
        support.expect(f"AUC {auc} on {ranks} ranks is no better than a guess", auc > 0.8)
        first = auc if first is None else first
        support.expect_close(f"AUC on {ranks} ranks", [auc], [first], 5e-4)


support.run(main)
