#!/bin/sh
# SPDX-License-Identifier: MIT
# nan.sh PCAST CHECKSUMS [--make]: outputs, log-sum-exps and dumps of attention over NaNs and infinities are the same bytes
# everywhere, though the NaN that an addition gives has another sign on AArch64 than on x86-64, and another payload from one
# vector instruction to the next. CHECKSUMS has one of cksum for each kernel.
set -eu
pcast=$(realpath "$1") checksums=$(realpath "$2") make=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME SHAPE COUNT PERIOD WORD...: little-endian float32: the words at every PERIODth place, elsewhere -1, 0.25, 1.5.
array() {
    name=$1 shape=$2 count=$3 period=$4
    shift 4
    header="{'descr': '<f4', 'fortran_order': False, 'shape': ($shape), }"
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
        i=0
        while [ "$i" -lt "$count" ]; do
            case $((i % period)) in
            "$((period - 1))")
                word=$1
                shift
                set -- "$@" "$word" # in turn
                ;;
            *[147]) word=BF800000 ;;
            *[258]) word=3E800000 ;;
            *) word=3FC00000 ;;
            esac
            low=${word#????} high=${word%????}
            for byte in "${low#??}" "${low%??}" "${high#??}" "${high%??}"; do
                printf "\\$(printf %03o "0x$byte")"
            done
            i=$((i + 1))
        done
    } > "$work/$name.npy"
}
array q '2, 6, 4' 48 19 7F800000 FFC00001
array k '2, 20, 4' 160 53 FF800000 7FC00123 FF800001
array v '2, 20, 5' 200 29 FFC00001 7F800000 FF800000 7F800001 FFFFFFFF 7FC00123

cd "$work"
# scalar is the definition; avx2 and native are the fast engines, where this processor has them.
for cpu in scalar avx2 native; do
    while read -r kernel; do
        "$pcast" attend --kernel "$kernel" --q q.npy --k k.npy --v v.npy --dump m,l,p,p8,o_tile --cpu "$cpu" --metrics m.csv \
            -o o.npy --lse lse.npy
        echo "$kernel $(cat o.npy lse.npy o.m.npy o.l.npy o.p.npy o.p8.npy o.o_tile.npy m.csv | cksum)"
    done > "$cpu.txt" << 'EOF'
paper:lse=e
paper:lse=2;mask=causal;block=8;masked_rows=unguarded;empty_max=unguarded
paper:lse=e;p_format=f32
paper:lse=e;p_format=f16;softcap=20
paper:lse=e;accumulator=fp16;out_format=f16
paper:lse=e;exponent=exp2_fma_rz;accumulator=fp64
fa3:block=8
fa3:block=8;splits=3;out_format=f32
fa4-offset8-tau4
xqa-mla:lse=e
vllm-triton:lse=e
cudnn
EOF
    if [ "$make" = --make ]; then
        cp "$cpu.txt" "$checksums"
        exit
    fi
    if ! diff "$checksums" "$cpu.txt"; then
        echo "differs with --cpu $cpu; if the change is meant: sh tests/golden/nan.sh PCAST tests/golden/nan.txt --make"
        exit 1
    fi
done
nans=$(od -An -v -tx4 -w4 o.npy o.o_tile.npy lse.npy | grep -c 7fc00000)
echo "$(wc -l < "$checksums") kernels, identical; $nans NaNs in the last one's files"
[ "$nans" -gt 0 ]
