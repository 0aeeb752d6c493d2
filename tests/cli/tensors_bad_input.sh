# SPDX-License-Identifier: MIT
# Tensors that cannot be used, and options that do not go with them.
shape() { # SHAPE BYTES
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': $1, }" "$2"
}
shape '(1, 4, 2)' 32 > ok.npy
shape '(1, 4, 2)' 20 > short.npy
shape '(1, 4, 2)' 40 > long.npy
npy "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 4, 2), }" 32 > fortran.npy
npy "{'descr': '|O', 'fortran_order': False, 'shape': (1, 4, 2), }" 32 > object.npy
npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 4, 2), }" 32 > big.npy
npy "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4, 2), }" 64 > double.npy
shape '(4, 2)' 32 > flat.npy
shape '(1, 4, 3)' 48 > wide.npy
shape '(1, 5, 2)' 40 > longer.npy
shape '(2, 4, 2)' 64 > two.npy
shape '(1, 0, 2)' 0 > empty.npy
npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 4, 2), }" 14 > nan.npy
printf '\000\176' >> nan.npy
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 2), }" 28; printf '\377\377\177\177'; } > large.npy
x='"dtype":"F32","shape":[1,4,2],"data_offsets"'
safetensors "{\"a\":{$x:[0,32]},\"b\":{$x:[32,64]}}" 64 > pair.st
safetensors "{\"a\":{$x:[0,32]},\"b\":{$x:[16,48]}}" 48 > overlap.st
safetensors "{\"a\":{$x:[0,32]},\"a\":{$x:[0,32]}}" 32 > twice.st
safetensors "{\"a\":{$x:[0,32]}}" 20 > short.st
safetensors "{\"a\":{$x:[0,32]}" 32 > open.st
safetensors '{"a":{"dtype":"F64","shape":[1,4,2],"data_offsets":[0,64]}}' 64 > double.st
printf '\377\377\377\377\377\377\377\177{}' > length.st
echo hello > text.npy
: > nothing.npy

t pcast sweep --q ok.npy -o x.csv
t pcast sweep --q ok.npy --k ok.npy -o x.csv
t pcast sweep --v ok.npy -o x.csv
for bad in absent short long fortran object big double flat empty nan text nothing; do
    t pcast sweep --q ok.npy --k ok.npy --v $bad.npy -o x.csv
done
for bad in pair.st pair.st:c absent.st:c overlap.st twice.st short.st open.st double.st length.st; do
    t pcast sweep --q ok.npy --k ok.npy --v $bad -o x.csv
done
t pcast sweep --q ok.npy:q --k ok.npy --v ok.npy -o x.csv
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
t sh -c 'pcast sweep --q -:q --k -:k --v ok.npy < ok.npy'
t sh -c 'pcast sweep --q - --k ok.npy --v ok.npy --sinks 1 < text.npy'
t pcast sweep --q large.npy --k large.npy --v ok.npy --sinks 1 -o x.csv
rm -f ./*.npy ./*.st
leftovers
