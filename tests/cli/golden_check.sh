# SPDX-License-Identifier: MIT
# Judging answers: a healthy kernel, faulty ones, files that are missing or malformed, the three reports, wrong options.
t pcast golden check
t pcast golden check suite
t pcast golden check suite --outputs out
t sh -c 'pcast golden check --help | head -n 1'

# A kernel's answers from the suite's own files.
answer() {
    spec=$1 folder=$2
    shift 2
    mkdir -p "$folder"
    for id in "$@"; do
        in=suite/probes/$id
        pcast attend --kernel "$spec" --q "$in/q.npy" --k "$in/k.npy" --v "$in/v.npy" -o "$folder/${id}_o.npy" --lse "$folder/${id}_lse.npy" \
            --metrics metrics.csv
    done
}
pcast golden make suite --dim 64 --kernel fa3 --probe tail-flush-last,unit-row,unit-row-base-2,sums-of-cast,cast-table,fp16-overflow
good='tail-flush-last unit-row sums-of-cast cast-table'
# shellcheck disable=SC2086
answer fa3 out $good
t pcast golden check suite --outputs out
t pcast golden check suite --outputs out --probe cast-table --kernel fa3 --unknown scale
t pcast golden check suite --outputs out --kernel flashinfer-fa3 --probe unit-row

# S = 1 where 256 is declared; the same with nothing known; a row sum of casts; FP16.
# shellcheck disable=SC2086
answer 'fa3:scale=1' flush $good
t pcast golden check suite --outputs flush
t pcast golden check suite --outputs flush --kernel 'fa3:scale=1'
t sh -c 'pcast golden make anyone --dim 64 --probe tail-flush-last; pcast golden check anyone --outputs flush'
answer 'fa3:row_sum=cast' cast sums-of-cast
t pcast golden check suite --outputs cast --csv - --junit cast.xml
t cat cast.xml

# What cannot be judged is told problem by problem, and the rest is judged.
cp out/cast-table_o.npy out/unit-row_o.npy
rm out/sums-of-cast_lse.npy
head -c 100 out/tail-flush-last_lse.npy > cut; mv cut out/tail-flush-last_lse.npy
t pcast golden check suite --outputs out --csv check.csv
t cut -d, -f1,2,9- check.csv
# In one file each.
mkdir one
answer fa3 . cast-table
answer_to_one() { pcast attend --kernel fa3 --q suite/probes/cast-table/q.npy --k suite/probes/cast-table/k.npy --v suite/probes/cast-table/v.npy -o one/cast-table.safetensors --metrics metrics.csv; }
answer_to_one
t pcast golden check suite --outputs one

# Nothing to judge, and wrong arguments.
mkdir none
t pcast golden check suite --outputs none
t pcast golden check none --outputs out
t pcast golden check suite --outputs out --probe head-map
t pcast golden check suite --outputs out --probe nothing
t pcast golden check suite --outputs out --unknown scale
t pcast golden check suite --outputs out --kernel fa9
t pcast golden check suite --outputs out --kernel fa3:scale=0
t pcast golden check suite other --outputs out
t pcast golden check suite --outputs out --csv none/none/x.csv
echo '{"schema": "pcast-golden"}' > none/manifest.json
t pcast golden check none --outputs out
t sh -c 'rm suite/probes/unit-row/v.npy; pcast golden check suite --outputs flush --probe unit-row'
# Long paths, fields that are the problems', two reports for one output.
t sh -c 'long=$(printf "%0990d" 0 | tr 0 /); mkdir short; cp out/cast-table_o.npy short/sums-of-cast_o.npy; pcast golden check suite --outputs ".${long}short" --probe sums-of-cast 2>&1 | cut -c1-60 | tail -n 2'
t pcast golden check suite --outputs out --kernel 'fa3:mask=causal'
t pcast golden check suite --outputs out --kernel 'fa3:softcap=30'
t pcast golden check suite --outputs out --kernel 'fa3:masked_rows=mean_v'
t pcast golden check suite --outputs out --csv - --junit -
t pcast golden check suite --outputs ''
