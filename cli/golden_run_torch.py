#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a PyTorch attention kernel on a golden suite: python3 run_torch.py SUITE OUTPUTS

Copy this file and import a kernel as f. Then: pcast golden check SUITE --outputs OUTPUTS
"""
import json
import pathlib
import sys

import numpy as np
import torch
from safetensors.torch import load_file

# f(q, k, v, *, softmax_scale, mask, window_left, window_right, kv_lengths, q_descale, k_descale, v_descale, sink)
# -> o [batch, heads, queries, dim], log-sum-exp [batch, heads, queries] or None. Tensors q [batch, heads, queries, dim],
# k and v [batch, kv heads, keys, dim] are float8_e4m3fn. Optional (else None) are kv_lengths [batch], int32 (what lies
# beyond is NaN), descales [kv heads] and sink [heads], a logit, float32. mask is "none", "causal" or "causal_top_left",
# a window of 0 is none. A kernel that cannot do a problem raises NotImplementedError.
from my_kernel import f

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def with_room(x, tokens):
    """Room for so many tokens, of which the kernel must read no more than kv_lengths says."""
    if tokens == x.shape[2]:
        return x
    room = torch.zeros((*x.shape[:2], tokens, x.shape[3]), dtype=torch.uint8, device=x.device).view(x.dtype)
    room[:, :, : x.shape[2]] = x
    return room


def save(path, values):
    path.unlink(missing_ok=True)
    if values is not None:
        np.save(path, values.detach().float().cpu().numpy())  # float32 holds every output


def main():
    suite, outputs = map(pathlib.Path, sys.argv[1:3])
    outputs.mkdir(parents=True, exist_ok=True)
    for probe in json.loads((suite / "manifest.json").read_text())["probes"]:
        inputs = load_file(suite / probe["inputs"]["safetensors"], device=DEVICE)
        for name in "kv_lengths", "q_descale", "k_descale", "v_descale", "sink":
            inputs.setdefault(name, None)
        for name in "softmax_scale", "mask", "window_left", "window_right":
            inputs[name] = probe[name]
        for name in "k", "v":
            inputs[name] = with_room(inputs[name], probe["shape"]["allocated_keys"])
        try:
            o, lse = f(**inputs)
        except NotImplementedError as reason:
            print(f"{probe['id']}: skipped: {reason}")
            o = lse = None
        save(outputs / f"{probe['id']}_o.npy", o)
        save(outputs / f"{probe['id']}_lse.npy", lse)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
