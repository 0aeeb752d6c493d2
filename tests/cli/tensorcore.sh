# SPDX-License-Identifier: MIT
# tensorcore: matrices, rows, files of both kinds, and what wrong input is told.
bytes() { # SHAPE OCTAL...: codes
    shape=$1
    shift
    npy "{'descr': '|u1', 'fortran_order': False, 'shape': $shape, }" 0
    printf '%b' "$*" | tr -d ' '
}
show() { # the numbers of an NPY file in float32, as bits
    tail -c +129 "$1" | od -An -v -tx4 -w16
}
bytes '(2, 3)' '\0070\0070\0070' '\0074\0270\0010' > a.npy    # 1 1 1, 1.5 -1 2^-6
bytes '(3, 2)' '\0070\0004' '\0070\0004' '\0070\0004' > b.npy # columns of 1, of 2^-7
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" 8 > c.npy
printf '\000\000\000\106\000\002\200\077' >> c.npy # 8192, 1 + 2^-14
npy "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 2), }" 8 > bits.npy
printf '\000\000\000\106\000\002\200\077' >> bits.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy -o d.npy
show d.npy
for machine in ada-mma hopper-wgmma hopper-mma blackwell-tcgen05; do
    t pcast tensorcore --machine $machine --a a.npy --b b.npy --c c.npy -o d.npy
    show d.npy
done
t sh -c 'pcast tensorcore --machine hopper-wgmma --a - --b b.npy --c c.npy --cpu scalar --threads 1 -o - < a.npy > e.npy'
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --c bits.npy --threads 2 -o d.npy
t cmp d.npy e.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b a.npy --rowwise -o d.npy
show d.npy
t pcast tensorcore --machine hopper-wgmma --format e5m2 --b-format e4m3 --a a.npy --b b.npy -o d.npy
show d.npy
safetensors '{"p":{"dtype":"F8_E4M3","shape":[1,2],"data_offsets":[0,2]},"v":{"dtype":"F8_E5M2","shape":[2,1],"data_offsets":[2,4]}}' 0 > pv.st
printf '\070\070\074\074' >> pv.st
t pcast tensorcore --machine blackwell-tcgen05 --b-format e5m2 --a pv.st:p --b pv.st:v -o d.npy
show d.npy
# FP16: 1e5 is none.
npy "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }" 0 > half.npy
printf '\000\074\377\373' >> half.npy # 1, -65504
t pcast tensorcore --machine hopper-wgmma --a a.npy --b a.npy --c half.npy --rowwise --output f16 -o d.npy
show d.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" 4 > large.npy
printf '\000\120\303\107' >> large.npy
rm d.npy e.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b a.npy --c large.npy --rowwise --output f16 -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b a.npy --c half.npy --rowwise -o d.npy
# Wrong options.
t pcast tensorcore
t pcast tensorcore --machine hopper
t pcast tensorcore --machine hopper-wgmma
t pcast tensorcore --machine hopper-wgmma --a a.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --format e4m3fnuz -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --b-format f16 -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --output bf16 -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --threads 0 -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy --cpu sse -o d.npy
t pcast tensorcore --machine hopper-wgmma --a a.npy --b b.npy -o d.npy stray
t pcast tensorcore --machine hopper-wgmma --a - --b - -o d.npy
# Wrong input.
bytes '(3,)' '\0070\0070\0070' > flat.npy
bytes '(3, 2)' '\0070\0070\0070' > short.npy
m="--machine hopper-wgmma"
t pcast tensorcore $m --a missing.npy --b b.npy -o d.npy
t pcast tensorcore $m --a a.npy --b a.npy -o d.npy
t pcast tensorcore $m --a a.npy --b b.npy --rowwise -o d.npy
t pcast tensorcore $m --a flat.npy --b b.npy -o d.npy
t pcast tensorcore $m --a a.npy --b short.npy -o d.npy
t pcast tensorcore $m --a a.npy --b c.npy -o d.npy
t pcast tensorcore $m --a bits.npy --b b.npy -o d.npy
t pcast tensorcore $m --a pv.st:v --b b.npy -o d.npy
t pcast tensorcore $m --a pv.st:q --b b.npy -o d.npy
t pcast tensorcore $m --a a.npy --b b.npy --c b.npy -o d.npy
t pcast tensorcore $m --a a.npy --b b.npy --c half.npy -o d.npy
t pcast tensorcore $m --a a.npy --b b.npy --c large.npy -o d.npy
t pcast tensorcore $m --a a.npy --b b.npy -o folder/d.npy
t pcast tensorcore $m --a a.npy --b b.npy -o /dev/full
leftovers
t pcast tensorcore --list
