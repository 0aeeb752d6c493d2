#!/bin/sh
# SPDX-License-Identifier: MIT
# device.sh PCAST: the synthetic experiment on the replayed device gives the CPU's CSV, byte by byte, under every preset.
set -eu
pcast=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for kernel in $("$pcast" kernels --csv | sed '1d; s/,.*//') 'vllm-triton:partition=256;normalise=partition' 'paper:accumulator=fp64;splits=3'; do
    for device in cpu replay; do
        "$pcast" sweep --kernel "$kernel" --trials 2 --n 300 --dim 32 --delta 0,6 --device $device -o "$work/$device.csv"
    done
    cmp "$work/cpu.csv" "$work/replay.csv"
    count=$((count + 1))
done
echo "$count kernels, identical"
