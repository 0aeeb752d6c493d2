# SPDX-License-Identifier: MIT
# Two tensors bit by bit: what is said of differences of every kind, formats, refusals.
array() { # DESCR SHAPE BYTES: an NPY file of these bytes, in printf's notation
    npy "{'descr': '$1', 'fortran_order': False, 'shape': $2, }" 0
    # shellcheck disable=SC2059  # that is the point
    printf "$3"
}
# float16 1, 2, -1, 0 and NaN, 3, 4, 5; then 1, 2 + 2 ulp, -1, -0 and NaN with other bits, NaN, 4 + 5 ulp, 5.
array '<f2' '(1, 2, 2, 2)' '\000\074\000\100\000\274\000\000\000\176\000\102\000\104\000\105' > a.npy
array '<f2' '(1, 2, 2, 2)' '\000\074\002\100\000\274\000\200\001\376\000\176\005\104\000\105' > b.npy
array '<f2' '(2, 2, 2)' '\000\074\000\100\000\274\000\000\000\176\000\102\000\104\000\105' > rank3.npy
# float32 1, 2, 3 and 1, 2, 3 + 1 ulp; float16 1, 2, 3; FP8 codes 0x38, 0x40, 0x44, which are 1, 2, 3 in E4M3 and 0.5, 2, 4 in E5M2.
array '<f4' '(3,)' '\000\000\200\077\000\000\000\100\000\000\100\100' > f32.npy
array '<f4' '(3,)' '\000\000\200\077\000\000\000\100\001\000\100\100' > f32_ulp.npy
array '<f2' '(3,)' '\000\074\000\100\000\102' > f16.npy
array '|u1' '(3,)' '\070\100\104' > u8.npy
array '<f4' '()' '\000\000\200\077' > scalar.npy
array '<f4' '(1, 1, 1, 1, 1)' '\000\000\200\077' > rank5.npy
array '<f4' '(0, 3)' '' > empty.npy
{ safetensors '{"o":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},"p":{"dtype":"F8_E5M2","shape":[3],"data_offsets":[6,9]}}' 0; printf '\000\074\000\100\000\102\070\100\104'; } > o.st

t pcast diff a.npy a.npy
t pcast diff a.npy b.npy
t pcast diff a.npy b.npy --top 3
t pcast diff a.npy b.npy --csv
t pcast diff f16.npy f32.npy
t pcast diff f16.npy f32_ulp.npy
t pcast diff u8.npy o.st:o
t pcast diff u8.npy o.st:p --fp8 e5m2
t pcast diff u8.npy o.st:p --csv
t sh -c 'pcast diff - f32.npy --csv < f16.npy'
t sh -c 'pcast diff --csv -- -:o f32.npy < o.st'
t pcast diff scalar.npy scalar.npy
t pcast diff empty.npy empty.npy
t pcast diff a.npy
t pcast diff a.npy b.npy a.npy
t pcast diff - -
t pcast diff a.npy b.npy --fp8 f16
t pcast diff a.npy b.npy --top -1
t pcast diff a.npy b.npy --top 3 --csv
t pcast diff a.npy rank3.npy
t pcast diff a.npy f32.npy
t pcast diff a.npy absent.npy
t pcast diff o.st f16.npy
t pcast diff rank5.npy rank5.npy
t sh -c 'pcast diff a.npy b.npy > /dev/full'
