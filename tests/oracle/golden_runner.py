#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of a golden suite as Python sees them: both forms of the inputs are the same numbers, and run_numpy.py gives
exact attention on every probe, as `pcast attend` does with P kept in float32 (masks, windows, lengths, descales, sinks);
what is expected of known kernels is what `pcast attend` makes of the NPY files, bit by bit.

usage: golden_runner.py PCAST; exit 77 (skipped) where a package is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)
try:
    import safetensors.torch
    import torch
except ImportError:
    torch = None

DTYPES = {"F8_E4M3": ml_dtypes.float8_e4m3fn, "BF16": ml_dtypes.bfloat16, "F16": np.float16, "F32": np.float32, "I32": np.int32}
OPTIONS = {"q_descale": "--q-descale", "k_descale": "--k-descale", "v_descale": "--v-descale", "sink": "--learned-sink",
           "kv_lengths": "--kv-lengths"}


def check(condition, message):
    if not condition:
        sys.exit(f"FAIL: {message}")


def run(*command, cwd=None):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd)
    check(result.returncode == 0, f"{command}: {result.stderr}")
    return result.stdout


def read_safetensors(path):
    bytes_ = path.read_bytes()
    length = int.from_bytes(bytes_[:8], "little")
    tensors = {}
    for name, entry in json.loads(bytes_[8:8 + length]).items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(bytes_[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


EXACT = "paper:p_format=f32;masked_rows=zero;lse=e;learned_sink=denominator"


def attend(pcast, suite, probe, folder, spec):
    """O and log-sum-exp, None where there is none, of a kernel."""
    inputs = probe["inputs"]
    spec += f"{';' if ':' in spec else ':'}window_left={probe['window_left']};window_right={probe['window_right']}"
    options = [word for name, option in OPTIONS.items() if name in inputs for word in (option, suite / inputs[name])]
    run(pcast, "attend", "--kernel", spec, "--mask", probe["mask"], "--softmax-scale", repr(probe["softmax_scale"]),
        "--q", suite / inputs["q"], "--k", suite / inputs["k"], "--v", suite / inputs["v"], *options,
        "-o", folder / "o.safetensors", "--metrics", "/dev/null")
    results = read_safetensors(folder / "o.safetensors")
    return results["o"].astype(np.float32), results.get("lse")


def check_expected(pcast, suite, probe, folder):
    """What the suite expects of a kernel is what attend gives, bit by bit."""
    for entry in probe["expected"]:
        for kernel in {entry["kernels"][0], entry["kernels"][-1]}:
            o, lse = attend(pcast, suite, probe, folder, kernel)
            check(np.load(suite / entry["o"]).tobytes() == o.tobytes(), f"{probe['id']}: o of {kernel}")
            check((entry["lse"] is None) == (lse is None), f"{probe['id']}: lse of {kernel}, or none")
            check(lse is None or np.load(suite / entry["lse"]).tobytes() == lse.tobytes(), f"{probe['id']}: lse of {kernel}")


def same(a, b):
    """Equal but for rounding: 1e-5 of the largest number; infinities must be equal."""
    finite = np.isfinite(b)
    size = max(1.0, np.abs(b[finite]).max(initial=0.0))
    return (a.shape == b.shape and (a[~finite] == b[~finite]).all() and
            (np.abs(a[finite] - b[finite]) <= 1e-5 * size).all())


def check_outputs(suite, outputs, expected):
    for probe in json.loads((suite / "manifest.json").read_text())["probes"]:
        for name, values in zip(("o", "lse"), expected[probe["id"]]):
            got = np.load(outputs / f"{probe['id']}_{name}.npy")
            check(same(got, values), f"{probe['id']}: {name} of {outputs.name}")


def check_torch(suite, folder):
    """run_torch.py with the NumPy script's f as the kernel."""
    (folder / "my_kernel.py").write_text(
        "import torch\nfrom run_numpy import f as exact\n"
        "def f(q, k, v, **options):\n"
        "    assert q.dtype == torch.float8_e4m3fn and options['mask'] in ('none', 'causal', 'causal_top_left')\n"
        "    lists = {n: t.cpu().numpy() if torch.is_tensor(t) else t for n, t in options.items()}\n"
        "    o, lse = exact(*(t.float().cpu().numpy() for t in (q, k, v)), **lists)\n"
        "    return torch.from_numpy(o), torch.from_numpy(lse)\n")
    for name in "run_numpy.py", "run_torch.py":
        (folder / name).write_bytes((suite / name).read_bytes())
    run(sys.executable, "run_torch.py", suite, folder / "torch", cwd=folder)


def main():
    pcast = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        suite, outputs = folder / "suite", folder / "outputs"
        run(pcast, "golden", "make", suite, "--dim", "64")
        run(sys.executable, suite / "run_numpy.py", suite, outputs)
        expected = {}
        probes = json.loads((suite / "manifest.json").read_text())["probes"]
        for probe in probes:
            tensors = read_safetensors(suite / probe["inputs"]["safetensors"])
            check(set(tensors) == set(probe["inputs"]) - {"safetensors"}, f"{probe['id']}: names of tensors")
            for tensor, values in tensors.items():
                other = np.load(suite / probe["inputs"][tensor])
                check(other.dtype == (np.int32 if tensor == "kv_lengths" else np.float32), f"{probe['id']}: {tensor}")
                check(np.array_equal(values.astype(other.dtype), other, equal_nan=other.dtype == np.float32),
                      f"{probe['id']}: {tensor} differs between safetensors and NPY")
            expected[probe["id"]] = attend(pcast, suite, probe, folder, EXACT)
            check_expected(pcast, suite, probe, folder)
        check_outputs(suite, outputs, expected)
        # A problem that a kernel does not do leaves no outputs, not even old ones.
        script = folder / "other.py"
        script.write_text((suite / "run_numpy.py").read_text().replace(
            "    batch, heads,", "    raise NotImplementedError('not today')\n    batch, heads,", 1))
        skipped = run(sys.executable, script, suite, outputs)
        check(skipped == "".join(f"{probe['id']}: skipped: not today\n" for probe in probes), "skipped probes")
        check(list(outputs.iterdir()) == [], "outputs of skipped probes")
        if torch is not None:
            check_torch(suite, folder)
            check_outputs(suite, folder / "torch", expected)
        print(f"{len(probes)} probes, {'with' if torch is not None else 'without'} PyTorch")


main()
