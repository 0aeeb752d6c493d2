# SPDX-License-Identifier: MIT
# Files that a model's tensors can come in: all give the rows of the first one.
x='"dtype":"F8_E4M3","shape":[1,4,1],"data_offsets"'
codes() { # Q, K and V: 1 everywhere; 2, 0, -1, 0.25; 4 everywhere
    printf '\070\070\070\070\100\000\270\050\110\110\110\110'
}
all() { safetensors "{\"k\":{$x:[4,8]},\"q\":{$x:[0,4]},\"v\":{$x:[8,12]}}" 0 && codes; }
bytes() { npy "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 4, 1), }" 0 && codes | tail -c "+$1" | head -c 4; }
bytes 1 > q.npy
bytes 5 > k.npy
bytes 9 > v.npy
all > all.st
all > layer07.st

set -- --scale 1 --order forward --source x --sinks 1
t sh -c 'pcast sweep --q q.npy --k k.npy --v v.npy "$@" | cut -d, -f1-3,11,17,23- | tee first.csv' sh "$@"
same() {
    pcast sweep "$@" --scale 1 --order forward --source x --sinks 1 | cut -d, -f1-3,11,17,23- | cmp - first.csv
}
t same --q all.st --k all.st --v all.st
t same --q all.st:q --k all.st --v v.npy
t same --q q.npy --k k.npy --v - < all.st
t same --q -:q --k k.npy --v v.npy < all.st
t sh -c 'pcast sweep --q layer{layer}.st:q --k layer{layer}.st --v layer{layer}.st --layer 7 "$@" | wc -l' sh "$@"
