#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs an attention function on a golden suite: python3 run_numpy.py SUITE OUTPUTS

Copy this file and put a kernel in the place of f. Then: pcast golden check SUITE --outputs OUTPUTS
"""
import json
import pathlib
import sys

import numpy as np


def f(q, k, v, *, softmax_scale, mask, window_left, window_right, kv_lengths, q_descale, k_descale, v_descale, sink):
    """Exact attention in float64: q [batch, heads, queries, dim], k and v [batch, kv heads, keys, dim] -> o, log-sum-exp.

    Optional are kv_lengths [batch] (what lies beyond is NaN), descales [kv heads] and sink [heads], a logit.
    A kernel that cannot do a problem raises NotImplementedError.
    """
    batch, heads, queries, dim = q.shape
    group = heads // k.shape[1]
    o, lse = np.zeros(q.shape), np.full(q.shape[:3], -np.inf)
    for b, h, i in np.ndindex(batch, heads, queries):
        g, n = h // group, k.shape[2] if kv_lengths is None else int(kv_lengths[b])
        aligned = i if mask == "causal_top_left" else i + n - queries  # the key at the query's own position
        first = max(0, aligned + 1 - window_left) if window_left else 0
        end = aligned + 1 if mask != "none" else aligned + window_right if window_right else n
        keys = slice(first, max(first, min(end, n)))
        scale = softmax_scale * (1 if q_descale is None else q_descale[g]) * (1 if k_descale is None else k_descale[g])
        z = np.float64(scale) * (k[b, g, keys].astype(np.float64) @ q[b, h, i].astype(np.float64))
        logits = z if sink is None else np.append(z, sink[h])  # a sink takes attention and gives no value
        if logits.size == 0:
            continue  # no key: o is 0, the log-sum-exp -inf
        lse[b, h, i] = logits.max() + np.log(np.exp(logits - logits.max()).sum())
        p = np.exp(z - lse[b, h, i])
        o[b, h, i] = (p @ v[b, g, keys].astype(np.float64)) * (1 if v_descale is None else v_descale[g])
    return o, lse


def with_room(x, tokens):
    """Room for so many tokens, of which the kernel must read no more than kv_lengths says."""
    if tokens == x.shape[2]:
        return x
    room = np.zeros((*x.shape[:2], tokens, x.shape[3]), x.dtype)
    room[:, :, : x.shape[2]] = x
    return room


def save(path, values):
    """uint16 are the bits of bfloat16; float32 holds every other output."""
    path.unlink(missing_ok=True)
    if values is not None:
        values = np.asarray(values)
        np.save(path, values if values.dtype == np.uint16 else values.astype(np.float32))


def main():
    suite, outputs = map(pathlib.Path, sys.argv[1:3])
    outputs.mkdir(parents=True, exist_ok=True)
    for probe in json.loads((suite / "manifest.json").read_text())["probes"]:
        inputs = {name: np.load(suite / path) for name, path in probe["inputs"].items() if name != "safetensors"}
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
