#!/bin/sh
# SPDX-License-Identifier: MIT
# suite.sh PCAST CHECKSUMS [--make|--once]: a golden suite's inputs and expectations are the same bytes everywhere.
# CHECKSUMS has one of cksum for each probe; --once leaves out all CPU levels but the native one.
set -eu
export LC_ALL=C
pcast=$(realpath "$1") checksums=$(realpath "$2") mode=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
levels='scalar avx2 native'
[ "$mode" != --once ] || levels=native
for cpu in $levels; do
    rm -rf suite
    "$pcast" golden make suite --dim 64 --cpu "$cpu"
    for probe in suite/probes/*.safetensors; do
        id=$(basename "$probe" .safetensors)
        echo "$id $(cat "$probe" suite/probes/"$id"/*.npy suite/expected/"$id"_[0-9][0-9]_*.npy | cksum)"
    done > "$cpu.txt"
    if [ "$mode" = --make ]; then
        cp "$cpu.txt" "$checksums"
        exit
    fi
    if ! diff "$checksums" "$cpu.txt"; then
        echo "differs with --cpu $cpu; if the change is meant: sh tests/golden/suite.sh PCAST tests/golden/suite.txt --make"
        exit 1
    fi
done
echo "$(wc -l < "$checksums") probes, identical"
