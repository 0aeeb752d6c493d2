#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three kernels in NumPy that know nothing of the simulator (tests/blind) as users run theirs: put in the place of f in a
suite's run_numpy.py, judged with nothing known and under an honest declaration, compared with `pcast attend` under the same,
shown to `pcast identify`, and judged again with a defect in each. Prints what was found.

usage: blind_kernels.py PCAST; exit 77 (skipped) where a package is missing.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import ml_dtypes  # noqa: F401; the kernels cast with it
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

BLIND = pathlib.Path(__file__).resolve().parent.parent / "blind"
OPTIONS = {"q_descale": "--q-descale", "k_descale": "--k-descale", "v_descale": "--v-descale", "sink": "--learned-sink",
           "kv_lengths": "--kv-lengths"}

# declaration: what the kernel's docstring says, in the words of docs/kernels.md. A block of 4096 keys holds every row;
#   NumPy's exponential is unknown.
# told: what identify must say, by aspect.
# defects: name, probe, fault that must be named there, what is replaced by what.
KERNELS = {
    "two_pass": {
        "declaration": "paper:block=4096;scale=64;lse=e;masked_rows=zero;learned_sink=denominator",
        "told": {"S": "scale=64", "row sum": "row_sum=precast"},  # a row that is one block has no order
        "defects": [
            ("P is cast without S", "tail-flush-first", "tail-flush",
             [("np.minimum(e * S,", "np.minimum(e,"), ("(S * l[has])", "l[has]")]),
            ("S stays in the output", "unit-row", "scale-not-removed", [("(S * l[has])", "l[has]")])]},
    "online": {
        "declaration": "paper:block=96;scale=256;scale_at=exponent;sum_scale=in;exponent=exp2_mul;out_format=bf16;lse=2;"
                       "masked_rows=zero;learned_sink=denominator",
        "told": {"order": "order=forward", "S": "scale=256", "row sum": "row_sum=precast", "block": "block=96"},
        "defects": [
            ("the sum is not rescaled", "rescaled-sums", "sum-not-rescaled",
             [("l = alpha * l + p.sum", "l = l + p.sum")]),
            ("the maximum may lag by 4", "stale-maximum-rising", "stale-maximum",
             [("new = np.maximum(m, z.max(axis=1))",
               "top = z.max(axis=1); new = np.where((m == -np.inf) | (top > m + 4 / LOG2E), np.maximum(m, top), m)")])]},
    "split_kv": {
        "declaration": "paper:order=reverse;block=64;partition=256;scale=448;row_sum=cast;sum_scale=in;lse=e;masked_rows=zero;"
                       "learned_sink=denominator",
        "told": {"order": "order=reverse", "S": "scale=448", "row sum": "row_sum=cast", "block": "block=64",
                 "splits": "splits=1;partition=256"},
        "defects": [
            ("splits are averaged", "split-merge", "splits-unweighted",
             [("share = w[:, has] / total[has]", "share = np.full_like(w[:, has], np.float32(1 / len(w)))")]),
            ("the maximum starts at 0", "below-zero", "maximum-starts-at-zero",
             [("m = np.full(queries, -np.inf, np.float32)", "m = np.zeros(queries, np.float32)")])]},
}


def check(condition, message):
    if not condition:
        sys.exit(f"FAIL: {message}")


def run(*command, codes=(0,)):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    check(result.returncode in codes, f"{command}: {result.returncode}: {result.stderr}{result.stdout}")
    return result


def table(*command, codes=(0,)):
    """The CSV that a command prints, and its exit code."""
    result = run(*command, codes=codes)
    return list(csv.DictReader(result.stdout.splitlines())), result.returncode


def answers(suite, folder, name, source):
    """Puts a kernel in the place of f as a user does, and runs it."""
    folder.mkdir()
    script = (suite / "run_numpy.py").read_text()
    begin, end = script.index("def f("), script.index("def with_room(")
    (folder / f"{name}.py").write_text(source)
    (folder / "run.py").write_text(f"{script[:begin]}from {name} import f\n\n\n{script[end:]}")
    check(run(sys.executable, folder / "run.py", suite, folder / "out").stdout == "", f"{name}: skipped probes")
    return folder / "out"


def judge(pcast, suite, outputs, *options):
    return table(pcast, "golden", "check", suite, "--outputs", outputs, "--csv", "-", *options, codes=(0, 1))


def check_verdicts(name, known, rows, code, count):
    wrong = [f"{row['probe']}: {row['verdict']}: {row['message']}" for row in rows
             if row["verdict"] not in ("exact", "admissible")]
    check(code == 0 and not wrong and len(rows) == count, f"{name}, {known}: exit {code}, {len(rows)} probes, {wrong}")
    exact = sum(row["verdict"] == "exact" for row in rows)
    print(f"{name}: {known}: {exact} exact, {len(rows) - exact} admissible")


def same_bits(pcast, suite, probe, spec, outputs, folder):
    """How many numbers `pcast attend` gives to the bit, and of how many; None where the SPEC knows no sink."""
    inputs = probe["inputs"]
    if "sink" in inputs and "learned_sink" not in spec:
        return None
    options = [word for name, option in OPTIONS.items() if name in inputs for word in (option, suite / inputs[name])]
    run(pcast, "attend", "--kernel", f"{spec};window_left={probe['window_left']};window_right={probe['window_right']}",
        "--mask", probe["mask"], "--softmax-scale", repr(probe["softmax_scale"]), "--q", suite / inputs["q"],
        "--k", suite / inputs["k"], "--v", suite / inputs["v"], *options, "-o", folder / "o.npy", "--lse", folder / "lse.npy",
        "--metrics", "/dev/null")
    same = total = 0
    for kind in "o", "lse":
        own, simulated = np.load(outputs / f"{probe['id']}_{kind}.npy"), np.load(folder / f"{kind}.npy")
        check(own.dtype == simulated.dtype, f"{probe['id']}: {kind} is {own.dtype}, {simulated.dtype}")
        same += int((own.ravel() == simulated.ravel()).sum())
        total += own.size
    return same, total


def check_simulation(pcast, suite, probes, name, outputs, folder):
    """The simulator under the kernel's declaration gives nearly all of its bits; NumPy's exponential and sums differ."""
    counts = [same_bits(pcast, suite, probe, KERNELS[name]["declaration"], outputs, folder) for probe in probes]
    same, total = (sum(column) for column in zip(*filter(None, counts)))
    print(f"{name}: attend under its declaration: {same} of {total} numbers to the bit ({100 * same / total:.1f} %)")
    check(same > 0.95 * total, f"{name}: {same} of {total} numbers")


def check_identity(pcast, suite, name, outputs):
    rows, _ = table(pcast, "identify", suite, "--outputs", outputs, "--csv")
    best = next(row for row in rows if row["kind"] == "best")
    print(f"{name}: identified as {best['value']}: {best['exact']} of {best['elements']} numbers to the bit")
    for aspect, wanted in KERNELS[name]["told"].items():
        found = [row["value"] for row in rows if row["aspect"] == aspect and row["kind"] in ("own", "same")]
        words = f"{name}: {aspect} is {wanted}, identified as {' or '.join(found)}"
        check(wanted in found, f"{words} (best {best['value']})")
        print(words)


def check_defects(pcast, suite, name, source, folder):
    for number, (what, probe, fault, changes) in enumerate(KERNELS[name]["defects"]):
        changed = source
        for old, new in changes:
            check(changed.count(old) == 1, f"{name}: {what}: '{old}' stands there {changed.count(old)} times")
            changed = changed.replace(old, new)
        outputs = answers(suite, folder / f"defect{number}", name, changed)
        rows, code = judge(pcast, suite, outputs, "--kernel", KERNELS[name]["declaration"], "--unknown", "exp_unit")
        named = {row["probe"]: row["fault"] for row in rows if row["verdict"] == "defective"}
        check(code == 1 and named.get(probe) == fault, f"{name}: {what}: exit {code}, {named}, not {fault} on {probe}")
        others = sorted({f"{p}: {f or 'none'}" for p, f in named.items() if f != fault})
        print(f"{name}: {what}: {fault} on {sum(f == fault for f in named.values())} of {len(named)} defective probes"
              + (f", else {', '.join(others)}" if others else ""))


def main():
    pcast = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        suite = pathlib.Path(place) / "suite"
        run(pcast, "golden", "make", suite, "--dim", "64")
        probes = json.loads((suite / "manifest.json").read_text())["probes"]
        for name, kernel in KERNELS.items():
            folder = pathlib.Path(place) / name
            source = (BLIND / f"{name}.py").read_text()
            outputs = answers(suite, folder, name, source)
            check_verdicts(name, "nothing known", *judge(pcast, suite, outputs), len(probes))
            declared = "--kernel", kernel["declaration"], "--unknown", "exp_unit"
            check_verdicts(name, "declared", *judge(pcast, suite, outputs, *declared), len(probes))
            check_simulation(pcast, suite, probes, name, outputs, folder)
            check_identity(pcast, suite, name, outputs)
            check_defects(pcast, suite, name, source, folder)


main()
