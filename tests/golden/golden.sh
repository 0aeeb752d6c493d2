#!/bin/sh
# SPDX-License-Identifier: MIT
# golden.sh PCAST FOLDER [--once | --make]: sweeps whose simulated columns are the same bytes everywhere.
#
# Runs each sweep with several thread counts and CPU levels and compares it, without its theory columns, with
# FOLDER/NAME.csv. --once is for a processor that has one level, slowly emulated. --make writes these files instead, after a change that is meant to move bits.
set -eu
pcast=$1 folder=$2 how=${3-}
data=$folder/../../data/smollm2-135m
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The columns of docs/numerics.md section 8 go through libm.
simulated() {
    awk -F, -v OFS=, 'NR == 1 {for (i = 1; i <= NF; i++) keep[i] = $i !~ /^(theory_f|theory_exact|mse_theory)$/}
        {line = ""; for (i = 1; i <= NF; i++) if (keep[i]) line = line (line == "" ? "" : OFS) $i; print line}'
}

sweep() { # NAME OPTION...
    name=$1
    shift
    case $name in
    synthetic) "$pcast" sweep --delta 0,3.5,6.5,12 --n 1000,5 --dim 40,1 --block 64,128 --sinks 3 --trials 5 --seed 20 \
        --scale 1,256,448,447.8898,1000 "$@" ;;
    heads) "$pcast" sweep --q "$data/layer{layer}_q.npy" --k "$data/layer{layer}_k.npy" --v "$data/layer{layer}_v.npy" \
        --layer 0,24 --mask causal --source smollm2-135m "$@" ;;
    kernels) "$pcast" sweep --kernel fa3 --kernel fa4-offset8-tau4 --kernel 'flashinfer-fa3:p_format=e5m2;splits=3' \
        --kernel 'xqa-sm90:splits=4' --kernel xqa-mla --kernel fmha-v2 --kernel sage2pp --kernel vllm-triton \
        --kernel cudnn --kernel torch-ref --kernel aiter-pa-ragged --delta 0,6 --n 1500 --dim 24 --trials 3 --seed 9 "$@" ;;
    esac | simulated
}

for name in synthetic heads kernels; do
    if [ "$how" = --make ]; then
        sweep "$name" > "$folder/$name.csv"
        continue
    fi
    for options in "--threads 1 --cpu scalar" "--threads 2 --cpu avx2" "--threads 3 --cpu native"; do
        case $how$options in --once*scalar | --once*avx2) continue ;; esac
        # shellcheck disable=SC2086  # options are words
        sweep "$name" $options > "$work/got.csv"
        if ! cmp -s "$work/got.csv" "$folder/$name.csv"; then
            echo "$name with $options differs from tests/golden/$name.csv:"
            diff "$folder/$name.csv" "$work/got.csv" | head -n 6
            echo "if the change is meant: sh tests/golden/golden.sh PCAST tests/golden --make"
            exit 1
        fi
        echo "$name with $options: $(wc -l < "$work/got.csv") lines, identical"
    done
done
