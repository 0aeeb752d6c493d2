# SPDX-License-Identifier: MIT
# Which kernel wrote some outputs: a run of a few probes, tensors, what cannot be told apart, wrong options.
t pcast identify
t sh -c 'pcast identify --help | head -n 1'
t pcast identify suite
t pcast identify --outputs out
t pcast identify suite --outputs out --q q.npy
t pcast identify --q q.npy --k k.npy --v v.npy
t pcast identify suite --outputs out --rows many
t pcast identify suite --outputs out --mask diagonal
t pcast identify suite --outputs out

pcast golden make suite --dim 64 --probe walk,cast-table,unit-row
mkdir out
for id in walk cast-table unit-row; do
    [ "$id" = walk ] && scale=0x1p-6 || scale=0.125
    pcast attend --kernel 'hpc-ops:order=reverse;block=96;scale=448;lse=e' --softmax-scale "$scale" --q "suite/probes/$id/q.npy" --k "suite/probes/$id/k.npy" \
        --v "suite/probes/$id/v.npy" -o "out/${id}_o.npy" --lse "out/${id}_lse.npy" --metrics metrics.csv
done
t sh -c 'pcast identify suite --outputs out | head -n 12'
t sh -c 'pcast identify suite --outputs out --csv | grep "^best\|,order,\|^kind"'
t sh -c 'pcast identify suite --outputs out --csv --threads 1 -o one.csv; pcast identify suite --outputs out --csv --threads 2 --cpu scalar | cmp - one.csv && echo same'

# A real head, of which every 22nd query is looked at.
head=$DATA/smollm2-135m/layer24
pcast attend --kernel fa4-vllm --q "${head}_q.npy" --k "${head}_k.npy" --v "${head}_v.npy" --mask causal -o o.npy --lse lse.npy --metrics metrics.csv
t sh -c "pcast identify --q ${head}_q.npy --k ${head}_k.npy --v ${head}_v.npy --o o.npy --lse lse.npy --mask causal --top 3 | head -n 8"
t pcast identify --q "${head}_q.npy" --k "${head}_k.npy" --v "${head}_v.npy" --o metrics.csv --mask causal
t pcast identify --q "${head}_q.npy" --k "${head}_k.npy" --v "${head}_v.npy" --o lse.npy --mask causal
