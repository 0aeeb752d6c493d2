#!/bin/sh
# SPDX-License-Identifier: MIT
# data.sh PCAST DATA [--once]: DATA/golden is what scripts/make_golden.sh makes, byte by byte.
# --once leaves out all CPU levels but the native one.
set -eu
pcast=$1 data=$2/golden levels='scalar avx2 native'
[ "${3-}" != --once ] || levels=native
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for cpu in $levels; do
    sh "$(dirname "$0")/../../scripts/make_golden.sh" "$pcast" "$work/$cpu" "$cpu"
    if ! diff -r "$data" "$work/$cpu" > "$work/difference"; then
        head -n 12 "$work/difference"
        echo "differs with --cpu $cpu; if the change is meant: sh scripts/make_golden.sh PCAST"
        exit 1
    fi
    echo "$(find "$work/$cpu" -type f | wc -l) files with --cpu $cpu, identical"
done
