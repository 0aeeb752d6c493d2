#!/bin/sh
# SPDX-License-Identifier: MIT
# tensor_core.sh PCAST DATA [--once]: the vectors of data/tensor_core, which an exact model made, byte by byte.
set -eu
pcast=$1 data=$2/tensor_core levels="scalar avx2 native"
[ "${3-}" != --once ] || levels=native
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=0
for machine in ada-mma hopper-wgmma hopper-mma blackwell-tcgen05; do
    for formats in 'e4m3 e4m3' 'e5m2 e5m2' 'e4m3 e5m2'; do
        a=${formats% *} b=${formats#* }
        for output in f32 f16; do
            expected=$data/d_${machine}_${a}_${b}_$output.npy
            for cpu in $levels; do
                "$pcast" tensorcore --machine "$machine" --format "$a" --b-format "$b" --a "$data/a_$a.npy" --b "$data/b_$b.npy" \
                    --c "$data/c_$output.npy" --rowwise --output "$output" --cpu "$cpu" -o "$work/d.npy"
                if ! cmp -s "$work/d.npy" "$expected"; then
                    echo "$expected with --cpu $cpu:"
                    "$pcast" diff "$work/d.npy" "$expected" || true
                    echo "if the change is meant: python3 scripts/make_tensor_core_vectors.py"
                    exit 1
                fi
            done
            files=$((files + 1))
        done
    done
done
echo "$files files of dot products, identical at every CPU level"
[ "$files" -eq 24 ]
