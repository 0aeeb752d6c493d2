# SPDX-License-Identifier: MIT
# Tensors that cannot be used, and options that do not go with them.
npy() { # HEADER BYTES: an NPY 1.0 file on stdout
    length=$(printf %s "$1" | wc -c)
    printf '\223NUMPY\001\000'
    printf "\\$(printf %03o $((length % 256)))\\$(printf %03o $((length / 256)))%s" "$1"
    head -c "$2" /dev/zero
}
shape() { # SHAPE BYTES
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': $1, }" "$2"
}
shape '(1, 4, 2)' 32 > ok.npy
shape '(1, 4, 2)' 20 > short.npy
shape '(1, 4, 2)' 40 > long.npy
npy "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 4, 2), }" 32 > fortran.npy
npy "{'descr': '|O', 'fortran_order': False, 'shape': (1, 4, 2), }" 32 > object.npy
npy "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4, 2), }" 64 > double.npy
shape '(4, 2)' 32 > flat.npy
shape '(1, 4, 3)' 48 > wide.npy
shape '(1, 5, 2)' 40 > longer.npy
shape '(2, 4, 2)' 64 > two.npy
shape '(1, 0, 2)' 0 > empty.npy
npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 4, 2), }" 14 > nan.npy
printf '\000\176' >> nan.npy
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 2), }" 28; printf '\377\377\177\177'; } > large.npy
echo hello > text.npy
: > nothing.npy

t pcast sweep --q ok.npy -o x.csv
t pcast sweep --q ok.npy --k ok.npy -o x.csv
t pcast sweep --v ok.npy -o x.csv
for bad in absent short long fortran object double flat empty nan text nothing; do
    t pcast sweep --q ok.npy --k ok.npy --v $bad.npy -o x.csv
done
t pcast sweep --q ok.npy --k wide.npy --v ok.npy -o x.csv
t pcast sweep --q ok.npy --k two.npy --v two.npy -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v longer.npy -o x.csv
t pcast sweep --q longer.npy --k ok.npy --v ok.npy --mask causal -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --sinks 4 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --sinks auto:9999999999 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --sinks auto:4 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --sinks auto:x -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --sinks 1,2 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --delta 5 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --n 5 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --trials 5 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --seed 5 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --mask none,causal -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --softmax-scale 0 -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v ok.npy --layer 1,2 -o x.csv
t pcast sweep --q 'ok{layer}.npy' --k ok.npy --v ok.npy -o x.csv
t pcast sweep --q ok.npy --k ok.npy --v 'ok{layer}.npy' -o x.csv
t pcast sweep --q 'ok{layer}.npy' --k ok.npy --v ok.npy --layer 7 -o x.csv
t pcast sweep --q 'ok{layer}.npy' --k ok.npy --v ok.npy --layer 7,8 -o x.csv
t pcast sweep --q 'ok{layer}.npy' --k 'ok{layer}.npy' --v 'ok{layer}.npy' --layer 7,x -o x.csv
t sh -c 'pcast sweep --q - --k - --v ok.npy < ok.npy'
t sh -c 'pcast sweep --q - --k ok.npy --v ok.npy --sinks 1 < text.npy'
t pcast sweep --q large.npy --k large.npy --v ok.npy --sinks 1 -o x.csv
rm -f ./*.npy
leftovers
