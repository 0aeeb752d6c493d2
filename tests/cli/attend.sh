# SPDX-License-Identifier: MIT
# attend and kernels: results, and what bad input is told.
q=$DATA/smollm2-135m/layer24_q.npy k=$DATA/smollm2-135m/layer24_k.npy v=$DATA/smollm2-135m/layer24_v.npy
t pcast kernels
t sh -c "pcast kernels --csv | wc -l"
t pcast kernels fa3:scale=448
t pcast kernels nothing
t pcast kernels fa3 fa4
t pcast kernels 'fa3:sum_scale=out'
t pcast attend --kernel fa3 --q $q --k $k --v $v --mask causal
t pcast attend --kernel fa3 --q $q --k $k --v $v --mask causal --report
# The same for any number of threads and CPU level, and through safetensors.
pcast attend --kernel fa3:lse=2 --q $q --k $k --v $v -o a.npy --lse a_lse.npy --metrics a.csv --threads 1 --cpu scalar
pcast attend --kernel fa3:lse=2 --q $q --k $k --v $v -o b.safetensors --metrics b.csv --threads 2
t cmp a.csv b.csv
t sh -c "pcast diff a.npy b.safetensors:o | grep compared"
t sh -c "pcast diff a_lse.npy b.safetensors:lse | grep compared"
t sh -c "pcast attend --kernel fa3:lse=2 --q $q --k $k --v $v -o - --metrics /dev/null | pcast diff - a.npy | grep compared"
# The same from standard input and from a pipe, as from files, quantised or not.
mkfifo pipe
same_input() {
    pcast attend "$@" --q $q --k $k --v $v > file.csv
    pcast attend "$@" --q $q --k - --v $v < $k | cmp - file.csv
    pcast attend "$@" --q - --k $k --v $v < $q | cmp - file.csv
    cat $v > pipe & pcast attend "$@" --q $q --k $k --v pipe | cmp - file.csv && wait
}
t same_input --kernel fa3
t same_input --kernel sage2-fp32 --quantize
# Nothing is left where nothing could be done.
rm -f ./*
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 8), }" 256 > small.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5, 8), }" 320 > other.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" 32 > flat.npy
npy "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" 16 > two.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" 12 > three.npy
all="--q small.npy --k small.npy --v small.npy"
t pcast attend -o o.npy
t pcast attend $all --kernel fa9 -o o.npy
t pcast attend $all --kernel 'paper:block=0' -o o.npy
t pcast attend $all --kernel 'paper:accumulator=tensor_core' -o o.npy
t pcast attend $all --kernel 'fa3:rescale_threshold=99' -o o.npy
t pcast attend $all --kernel cudnn --semantics hardware -o o.npy
t pcast attend $all --kernel fa3:exp_unit=exact -o o.npy
t pcast attend $all --kernel 'fa3:exp_unit=expf;semantics=hardware' -o o.npy
t pcast attend $all --kernel 'fa3:p_format=f16' --semantics hardware -o o.npy
t pcast attend $all --semantics exact -o o.npy
t pcast attend $all --mask diagonal -o o.npy
t pcast attend $all --layout thbd -o o.npy
t pcast attend $all --fp8 f16 -o o.npy
t pcast attend $all --lse lse.npy -o o.npy
t pcast attend $all --dump m -o -
t pcast attend $all --dump m
t pcast attend $all --dump m,q -o o.npy
t pcast attend $all -o -
t pcast attend $all --softmax-scale 0 -o o.npy
t pcast attend $all --cu-seqlens-q two.npy -o o.npy
t pcast attend $all --cu-seqlens-q two.npy --cu-seqlens-k two.npy -o o.npy
t pcast attend $all --kv-lengths two.npy -o o.npy
t pcast attend $all --kv-lengths three.npy -o o.npy
t pcast attend $all --k-descale three.npy -o o.npy
t pcast attend $all --k-descale 0 -o o.npy
t pcast attend $all --k-descale missing.npy -o o.npy
t pcast attend $all --learned-sink 1 -o o.npy
t pcast attend --q small.npy --k other.npy --v small.npy -o o.npy
t pcast attend --q flat.npy --k small.npy --v small.npy -o o.npy
t pcast attend --q missing.npy --k small.npy --v small.npy -o o.npy
t pcast attend $all -o folder/o.npy
t pcast attend $all -o o.npy --lse folder/lse.npy --kernel paper:lse=e
leftovers
# Inputs drawn and quantised, and the error by stage.
t pcast attend --kernel 'fa3:q_scale=tensor;k_scale=tensor;v_scale=tensor' --draw outliers --heads 2 --n 256 --dim 64 --quantize
t pcast attend --kernel 'fa3:q_scale=block;k_scale=block;v_scale=block;promotion=tile;rotation=yes' --draw outliers --heads 2 --n 256 --dim 64 --quantize
t pcast attend --kernel sage2pp --draw normal --heads 2 --n 256 --dim 64 --quantize --budget
t pcast attend --kernel fa3:rotation=yes --draw normal --n 64 --dim 36 --quantize
t pcast attend --draw uniform
t pcast attend --draw normal --q small.npy
t pcast attend --draw normal --kv-lengths two.npy
t pcast attend --draw normal --q-descale 2
t pcast attend --draw normal --k-descale 2
t pcast attend --draw normal --v-descale 2
t pcast attend --draw normal --cu-seqlens-q two.npy --cu-seqlens-k two.npy
t pcast attend --draw normal --layout bthd
t pcast attend --draw normal --fp8 e5m2
t pcast attend --draw normal --budget --report
# A learned sink goes with drawn inputs; K less its mean does not go with it.
t sh -c "pcast attend --kernel 'paper:learned_sink=denominator;sink_logit=3' --draw normal --heads 1 --n 64 --dim 16 | cut -d, -f2-"
t sh -c "pcast attend --kernel 'paper:learned_sink=denominator' --learned-sink 3 --draw normal --heads 1 --n 64 --dim 16 | cut -d, -f2-"
t pcast attend --kernel 'paper:learned_sink=denominator;k_mean=yes' --learned-sink 3 --draw normal --heads 1 --n 64 --dim 16 --quantize
t pcast attend --kernel 'paper:softcap=30;k_mean=yes' --draw normal --heads 1 --n 64 --dim 16 --quantize
t pcast attend --kernel sage2pp:v_range=449 --draw normal
t pcast attend --kernel sage2pp:v_range=1e-30 --draw normal
t pcast attend --kernel fa3:v_scale=token --draw normal
t pcast attend --kernel fa3:q_scale=channel --draw normal
t pcast attend --kernel fa3:v_scale=block --draw normal
leftovers
# Two results never share a file, inputs never share stdin, numbers are numbers.
t pcast attend $all -o same.npy --metrics same.npy
t pcast attend $all --kernel paper:lse=e -o - --lse - --metrics m.csv
t pcast attend $all -o same.npy --dump m --metrics ./same.m.npy
t pcast attend --q - --k - --v small.npy
t pcast attend $all --q-descale 1e999
t pcast attend $all --q-descale nan
t pcast attend $all -o /dev/full --metrics m.csv
leftovers
