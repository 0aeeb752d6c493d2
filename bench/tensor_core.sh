#!/bin/sh
# SPDX-License-Identifier: MIT
# tensor_core.sh BUILD [PYTHON]: multiply-adds a second of every machine and CPU level, then hopper-wgmma against the same
# step in NumPy, one after the other on one core, and the ratio. First both multiply the same matrices, which must agree.
set -eu
build=$1 python=${2-python3} here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" - "$work" << 'END'
import sys
import numpy as np
rng = np.random.default_rng(5)
for name, shape in (("a", (16, 128)), ("b", (128, 48))):
    codes = rng.integers(0, 0x7F, shape, dtype=np.uint8) | rng.integers(0, 2, shape, dtype=np.uint8) << 7
    np.save(f"{sys.argv[1]}/{name}.npy", codes)
END
"$python" "$here/tensor_core_numpy.py" "$work/a.npy" "$work/b.npy" "$work/numpy.npy"
"$build/cli/pcast" tensorcore --machine hopper-wgmma --a "$work/a.npy" --b "$work/b.npy" -o "$work/pcast.npy"
"$build/cli/pcast" diff "$work/numpy.npy" "$work/pcast.npy" > /dev/null
"$build/cli/pcast" bench tensor-core --text
numpy=$("$python" "$here/tensor_core_numpy.py")
echo "hopper-wgmma       NumPy   $numpy multiply-adds/s"
for level in scalar avx2 avx512; do
    rate=$("$build/cli/pcast" bench tensor-core --cpu $level 2> "$work/none" | awk -F, '$2 == "hopper-wgmma" {print $8}')
    [ -z "$rate" ] || awk -v rate="$rate" -v numpy="$numpy" -v level=$level \
        'BEGIN {printf "%s: %.3g multiply-adds/s, %.1f times NumPy\n", level, rate, rate / numpy}'
done
