#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The project's own kernels, replayed, as a kernel author's: run on a golden suite, judged by `pcast golden check` as what
they are declared to be, and recognised by `pcast identify`.

usage: device_golden.py PCAST
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

OPTIONS = {"q_descale": "--q-descale", "k_descale": "--k-descale", "v_descale": "--v-descale", "sink": "--learned-sink",
           "kv_lengths": "--kv-lengths"}
SPECS = {"pcast-wgmma:semantics=hardware": {"order": "order=reverse", "S": "scale=256", "row sum": "row_sum=precast"},
         "pcast-wgmma:semantics=hardware;order=forward;promotion=tile;scale=448":
             {"order": "order=forward", "S": "scale=448", "row sum": "row_sum=precast"},
         "fa3-vllm:splits=2": {"order": "order=reverse", "S": "scale=256", "splits": "splits=2;partition=0"}}


def check(condition, message):
    if not condition:
        sys.exit(f"FAIL: {message}")


def run(*command, codes=(0,)):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    check(result.returncode in codes, f"{command}: {result.returncode}: {result.stderr}{result.stdout}")
    return result.stdout


def answer(pcast, suite, probe, spec, folder):
    """The kernel's answer to a probe; none where it knows no sink."""
    inputs = probe["inputs"]
    if "sink" in inputs and spec.startswith("pcast-wgmma"):
        return 0
    options = [word for name, option in OPTIONS.items() if name in inputs for word in (option, suite / inputs[name])]
    windows = f"window_left={probe['window_left']};window_right={probe['window_right']}"
    run(pcast, "attend", "--device", "replay", "--kernel", f"{spec}{';' if ':' in spec else ':'}{windows}", "--mask", probe["mask"],
        "--softmax-scale", repr(probe["softmax_scale"]), "--q", suite / inputs["q"], "--k", suite / inputs["k"],
        "--v", suite / inputs["v"], *options, "-o", folder / f"{probe['id']}_o.npy", "--lse", folder / f"{probe['id']}_lse.npy",
        "--metrics", "/dev/null")
    return 1


def main():
    pcast = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        suite = pathlib.Path(place) / "suite"
        run(pcast, "golden", "make", suite, "--dim", "64")
        probes = json.loads((suite / "manifest.json").read_text())["probes"]
        for number, (spec, told) in enumerate(SPECS.items()):
            folder = pathlib.Path(place) / f"answers{number}"
            folder.mkdir()
            count = sum(answer(pcast, suite, probe, spec, folder) for probe in probes)
            rows = list(csv.DictReader(run(pcast, "golden", "check", suite, "--outputs", folder, "--kernel", spec, "--csv", "-",
                                           codes=(0, 1)).splitlines()))
            verdicts = [row["verdict"] for row in rows]
            good = verdicts.count("exact") + verdicts.count("admissible")
            check(good == count, f"{spec}: {[(row['probe'], row['message']) for row in rows if row['verdict'] == 'defective']}")
            found = [row for row in csv.DictReader(run(pcast, "identify", suite, "--outputs", folder, "--csv").splitlines())]
            best = next(row for row in found if row["kind"] == "best")
            check(best["exact"] == best["elements"], f"{spec}: {best}")
            for aspect, value in told.items():
                values = [row["value"] for row in found if row["aspect"] == aspect and row["kind"] in ("own", "same")]
                check(value in values, f"{spec}: {aspect} is {value}, found {values}")
            print(f"{spec}: {count} of {len(probes)} probes, none defective; identified as {best['value']}, every number to the bit")


main()
