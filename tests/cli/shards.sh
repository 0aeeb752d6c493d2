# SPDX-License-Identifier: MIT
# A sweep in shards is the sweep: merged CSV and side file are the single run's bytes, however trials are split and
# whatever interrupts a shard; records that do not belong together are refused.

# check NAME "FIRST:TRIALS..." OPTION...: runs the shards, merges them in reverse and compares with one run. Both write
# to the same name, which the side file holds, as their last options.
check() {
    name=$1 splits=$2
    shift 2
    total=0 files=
    for split in $splits; do
        pcast sweep "$@" --first-trial "${split%:*}" --trials "${split#*:}" --records "$name.${split%:*}" || echo failed
        total=$((total + ${split#*:})) files="$name.${split%:*} $files"
    done
    mkdir one
    (cd one && pcast sweep "$@" --trials "$total" -o "$name.csv") || echo failed
    # shellcheck disable=SC2086
    pcast merge $files -o "$name.csv" && cmp one/"$name.csv" "$name.csv" && cmp one/"$name.meta.json" "$name.meta.json" &&
        echo "$name: $(($(wc -l < "$name.csv") - 1)) rows of $total trials from $(echo "$files" | wc -w) shards, the same bytes"
    rm -r one
}

small='--n 200 --dim 6'
check single '0:9' $small
check thirds '0:4 4:4 8:4' $small --delta 2,6.5 --threads 2
check uneven '0:1 1:7 8:2' $small --delta=-3,0.1,1e-5 --seed 18446744073709551615 --cpu scalar
check shapes '0:3 3:2' --delta 2,6 --n 200,301 --dim 4,7 --sinks 2,4 --order reverse
check budget '0:2 2:4' --kernel fa3 --kernel fa3-vllm --semantics fp32,hardware --delta 2,6 --n 300 --dim 16 --budget
check sigma '0:3 3:3' $small --delta 0,4 --sigma 2.5
check equal '0:2 2:1' $small --draw equal --kernel fa3 --semantics hardware
presets=$(pcast kernels --csv | tail -n +2 | cut -d, -f1 | sed 's/^/--kernel /')
# shellcheck disable=SC2086
check presets '0:2 2:2' $presets --n 300 --dim 64 --delta 3,6 | sed 's/: [0-9]* rows/: all rows/'
check nothing_finite '0:2 2:2' --kernel 'paper:scale=1.8e19;overflow=nan' --n 100 --dim 3 --delta 2
grep -c nan nothing_finite.csv

# -o beside --records; a CSV of one shard alone is that of its trials.
t pcast sweep $small --delta 3 --trials 4 --records both.records -o both.csv
pcast sweep $small --delta 3 --trials 4 | cmp - both.csv && echo same
t pcast sweep $small --delta 3 --first-trial 4 --trials 2 --records later.records -o -
t pcast sweep $small --delta 3 --first-trial 4 --trials 2
t sh -c 'pcast merge later.records both.records | tail -n 1'
t pcast sweep $small --delta 3 --trials 4 --records both.records
t pcast sweep $small --delta 3 --trials 4 --records both.records -o -
grep -c first_trial both.meta.json
t pcast sweep $small --delta 3 --first-trial 4 --trials 2 --records later.records -o later.csv
grep first_trial later.meta.json

# The format: two lines of header, whose second is JSON, a line a record, the end.
head -n 1 both.records | sed 's/ [0-9a-f]*$/ CHECK/'
sed -n 2p both.records | sed 's/^{"version":"[^"]*","sweep":{"kernel":\["paper:[^]]*\],/.../; s/"compiler.*"options"/..."options"/'
sed -n '3,4p; $p' both.records

# Killed, and cut anywhere: the same bytes in the end.
options='--n 1000 --dim 32 --delta 1,5 --order forward --trials 300 --threads 1'
pcast sweep $options --records whole.records
for try in 1 2 3 4 5 6 7 8 9 10; do # a busy machine may let it finish first
    rm -f killed.records
    pcast sweep $options --records killed.records & process=$!
    while [ "$(cat killed.records.part 2> /dev/null | wc -l)" -lt 100 ] && kill -0 $process 2> /dev/null; do sleep 0.01; done
    kill -9 $process 2> /dev/null
    wait $process 2> /dev/null
    [ -e killed.records ] || break
done
[ -e killed.records.part ] && [ ! -e killed.records ] && echo killed
pcast sweep $options --records killed.records 2>&1 | sed 's/after [1-9][0-9]* of/after SOME of/'
cmp whole.records killed.records && echo same
leftovers

resume() { # BYTES of the finished file, then TAIL
    { head -c "$1" whole.records; printf "$2"; } > cut.records.part
    pcast sweep $options --records cut.records 2>&1
    cmp whole.records cut.records && echo "cut to $1 bytes: same"
    rm -f cut.records
}
options='--n 150,200 --dim 3 --delta 1,5 --scale 1 --trials 3'
rm whole.records
pcast sweep $options --records whole.records
size=$(wc -c < whole.records) header=$(head -n 2 whole.records | wc -c) trial=$(sed -n 3,6p whole.records | wc -c)
for bytes in 0 1 100 $((header - 1)) $header $((header + 1)) $((header + trial - 1)) $((header + trial)) $((header + trial + 300)) \
    $((header + 3 * trial)) $((header + 4 * trial + 9)) $((size - 3)) $((size - 1)) $size; do
    resume "$bytes" '' | sed "s/ $bytes bytes/ some bytes/"
done
resume $((header + trial + 40)) '\000\000\000\n\000' | tail -n 1 | sed 's/[0-9][0-9]* bytes/some bytes/'

# A full disk ends the run, and it goes on from there.
options='--n 150,200 --dim 3 --delta 1,5 --trials 30'
(ulimit -f 40; t pcast sweep $options --records full.records)
pcast sweep $options --records full.records 2>&1 | sed 's/after [1-9][0-9]* of/after SOME of/'
pcast merge full.records > full.csv && pcast sweep $options | cmp - full.csv && echo same

# What is of another sweep is not touched.
echo mine > mine.records
mkdir folder.records
options="$small --trials 2 --delta 3"
pcast sweep $options --order forward --scale 1,2 --records a.records
head -c 3000 a.records > b.records.part
cp b.records.part kept
for change in '--delta 3,4' '--delta 3.0000000000000004' '--dim 7' '--n 201' '--sinks 3' '--seed 2' '--sigma 1' '--draw equal' '--budget' \
    '--trials 3' '--first-trial 1' '--scale 1,4' '--scale 1' '--kernel paper:row_sum=cast;sum_scale=in'; do
    for file in a b; do
        pcast sweep --order forward --scale 1,2 $options $change --records $file.records 2>&1
        echo "[$?]"
    done
done
cmp b.records.part kept && echo untouched
t pcast sweep $options --records mine.records
t cat mine.records
cp mine.records new.records.part
t pcast sweep $options --records new.records
t pcast sweep $options --records folder.records
t pcast sweep $options --records missing/a.records
t pcast sweep $options --records -
t pcast sweep $options --records ''
t pcast sweep $options --first-trial 4294967295 --records x.records
t pcast sweep $options --first-trial -1 --records x.records
t pcast sweep --q q.npy --k k.npy --v v.npy --records x.records
t pcast sweep --q q.npy --k k.npy --v v.npy --first-trial 2
t sh -c 'flock b.records.part pcast sweep --order forward --scale 1,2 --n 200 --dim 6 --trials 2 --delta 3 --records b.records'
rm -r *.records* kept

# What merge refuses.
options="$small --delta 3 --order forward"
for first in 0 2 4; do pcast sweep $options --first-trial $first --trials 2 --records $first.records; done
t pcast merge
t pcast merge 0.records 4.records -o x.csv
t pcast merge 4.records 2.records -o x.csv
t pcast merge 4.records -o x.csv
t pcast merge 0.records 2.records --trials 6 -o x.csv
t pcast merge 0.records 2.records --trials 3 -o x.csv
t pcast merge 0.records 2.records 0.records -o x.csv
pcast sweep $options --first-trial 1 --trials 4 --records 1.records
t pcast merge 0.records 1.records 4.records -o x.csv
for change in '--delta 4' '--delta 3,4' '--dim 7' '--n 201' '--sinks 3' '--seed 2' '--sigma 1' '--draw ones' '--budget' '--scale 1' '--order reverse' \
    '--kernel fa3' '--kernel paper:scale=448;block=64'; do
    rm -f other.records
    pcast sweep $options $change --first-trial 2 --trials 2 --records other.records
    t pcast merge 0.records other.records -o x.csv
done
head -c -40 2.records > 2.records.part && mv 2.records 2.kept
t pcast merge 0.records 2.records 4.records -o x.csv
head -n 1 2.kept > 2.records.part
t pcast merge 0.records 2.records 4.records -o x.csv
rm 2.records.part
t pcast merge 0.records 2.records 4.records -o x.csv

damage() { # SED-SCRIPT
    sed "$1" 2.kept > 2.records
    t pcast merge 0.records 2.records -o x.csv 2>&1
}
damage '1s/1/2/'
damage '1s/ [0-9a-f]*$//'
damage '1s/pcast/past/'
damage '2s/"first_trial":2/"first_trial":3/'
damage '2s/.*//'
damage '2,$d'
damage '3s/ 0x1/ 0x0/'
damage '3s/0x1\.[0-8]/0x1.9/'
damage '4s/^0/1/'
damage '5,5d'
damage '5{h;d};6G'
damage '$d'
damage '$s/6/5/'
damage '$s/$/ /'
damage '$a more'
head -c -1 2.kept > 2.records
t pcast merge 0.records 2.records -o x.csv
head -c -60 2.kept > 2.records
t pcast merge 0.records 2.records -o x.csv
cp 2.kept 2.records
t pcast merge 0.records 2.records 4.records -o missing/x.csv
t sh -c 'pcast merge 0.records 2.records 4.records > /dev/full'
t pcast merge 0.records folder
mkfifo pipe
t pcast merge 0.records .
t pcast merge --bogus
mv 2.kept 2.records
t pcast merge 0.records 2.records 4.records -o 4.records
t pcast sweep $options --trials 2 --records 0.records -o 0.records
pcast merge 4.records 0.records 2.records > merged.csv
pcast sweep $options --trials 6 | cmp - merged.csv && echo same
leftovers
