# SPDX-License-Identifier: MIT
# Hardware semantics: what runs, what is not settled, what is refused; budget, draws and theory of accumulation.
row="--n 512 --dim 16 --trials 2 --delta 2"
t pcast sweep --kernel fa3 --semantics fp32,hardware $row
t pcast sweep --kernel sage2pp --semantics hardware $row --budget
t pcast sweep --kernel 'hpc-ops:semantics=hardware;sum_order=fp64' --draw equal --n 512 --dim 16 --trials 2
t pcast sweep --kernel fa3:semantics=hardware --draw ones --dim 2 --n 1024,32768 --scale 448
t pcast sweep --scale 1 --order forward --sigma 0.5 $row
t pcast compare fa3-vllm 'fa3-vllm:semantics=hardware' --delta 2 --n 512 --trials 20 --margin 0.1 --text
# The same for any number of threads and CPU level.
for kernel in fa3 'fa4:exp_unit=fa4_mix;poly_freq=10' sage2pp; do
    pcast sweep --kernel "$kernel" --semantics hardware $row --cpu scalar --threads 1 -o a.csv
    pcast sweep --kernel "$kernel" --semantics hardware $row --threads 2 -o b.csv
    t cmp a.csv b.csv
    pcast attend --kernel "$kernel" --semantics hardware --draw normal --heads 2 --n 70 --dim 40 --quantize --cpu scalar -o a.npy --lse a_lse.npy --metrics a.txt
    pcast attend --kernel "$kernel" --semantics hardware --draw normal --heads 2 --n 70 --dim 40 --quantize --threads 1 -o b.npy --lse b_lse.npy --metrics b.txt
    t cmp a.npy b.npy
    t cmp a.txt b.txt
done
rm -f ./*.csv ./*.npy ./*.txt ./*.json
t pcast theory --accumulation --n 2048,2560 --scale 448
t pcast theory --accumulation --kernel fa4:exp_unit=ex2 --n 1048576 --scale 256
# Every preset: mass kept, mean squared and largest error, or which choice its sources leave open.
for kernel in $(pcast kernels --csv | tail -n +2 | cut -d, -f1); do
    t sh -c "pcast sweep --kernel $kernel --semantics hardware $row --order forward --scale 256 -o all.csv && tail -n 1 all.csv | cut -d, -f1,18,19,24"
done
rm all.csv*
# Refused.
t pcast sweep --kernel fa3:sum_order=fa4 $row
t pcast sweep --kernel fa3 --semantics ieee $row
t pcast sweep --kernel 'fa3:semantics=hardware;poly_freq=2;exp_unit=fa4_mix' $row
t pcast sweep --kernel 'fa3:semantics=hardware;qkv=bf16' $row
t pcast sweep --kernel 'fa3:semantics=hardware;exponent=natural;max_over=scaled' $row
t pcast sweep --kernel 'fa3:machine=volta' $row
t pcast sweep --kernel 'fa3:semantics=hardware;poly_freq=8' $row
t pcast sweep --kernel 'fa3:semantics=hardware;accumulator=fp64;machine=ada-mma' $row
t pcast sweep --kernel 'fa4:semantics=hardware;exp_unit=fa4_mix' $row
t pcast sweep --kernel 'xqa-mla:exp_unit=ex2;reciprocal=div;sum_order=reference;machine=hopper-mma;semantics=hardware' $row
t pcast sweep --draw equal --sigma 2 $row
t pcast sweep --draw wide
t pcast sweep --sigma 0
t pcast theory --accumulation --kernel sage2pp
t pcast theory --accumulation --dp
t pcast theory --accumulation --delta 2
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 8), }" 128 > zeros.npy
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 8), }" 124; printf '\001\000\200\077'; } > odd.npy
t pcast attend --kernel fa3 --semantics hardware --q zeros.npy --k odd.npy --v zeros.npy
t pcast attend --kernel fa3 --semantics hardware --q zeros.npy --k zeros.npy --v odd.npy
t pcast attend --kernel fa3 --semantics hardware --q odd.npy --k zeros.npy --v zeros.npy -o o.npy
t pcast sweep --kernel fa3 --semantics hardware --q zeros.npy --k zeros.npy --v zeros.npy --sinks 1
t pcast diagnose --kernel fa3:semantics=hardware --q zeros.npy --k zeros.npy --v zeros.npy --sinks 1
t pcast sweep --q zeros.npy --k zeros.npy --v zeros.npy --budget
