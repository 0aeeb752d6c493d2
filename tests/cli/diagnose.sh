# SPDX-License-Identifier: MIT
# diagnose: every form of its results, and what bad input is told; nothing is left half-written.
tokens() { # QUERIES KEYS: the first of head 0 of layer 24, as q.npy, k.npy and v.npy
    for part in q k v; do
        [ $part = q ] && count=$1 || count=$2
        { npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, $count, 64), }" 0
          tail -c +129 "$DATA/smollm2-135m/layer24_$part.npy" | head -c $((count * 128)); } > "$part.npy"
    done
}
tokens 96 96
all="--q q.npy --k k.npy --v v.npy --mask causal"
kernel="--kernel paper:block=32"
t pcast diagnose $all $kernel
t pcast diagnose $all --kernel fa4-vllm:block=32 --quantize --sinks 2
t pcast diagnose $all $kernel --text
t pcast diagnose $all $kernel --text --sinks auto:1 --softmax-scale 0.25
t pcast diagnose $all --kernel 'paper:block=32;overflow=nan;rescale_threshold=8;scale=256' --text
t sh -c "pcast diagnose $all $kernel --trade-off - -o /dev/null | head -n 4"
t sh -c "pcast diagnose $all --kernel torch-ref:block=32 --trade-off - -o /dev/null | wc -l"
# The budget in words: the cast beside inputs that are quantised, and a kernel that quantises none.
t pcast diagnose $all --kernel fa4-vllm:block=32 --quantize --text
t pcast diagnose $all --kernel paper:block=32 --quantize --text
# A threshold in nats: the kernel's own setting is among those tried.
t sh -c "pcast diagnose $all --kernel cudnn:scale=100 --trade-off - -o /dev/null | grep ',100,'"
# Heads that say nothing: V of zeros, and one that overflows everywhere, left out beside the other.
npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 96, 64), }" 12288 > zero.npy
t sh -c "pcast diagnose --q q.npy --k k.npy --v zero.npy --mask causal --text | sed -n '3,4p;9p'"
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 96, 1), }" 384; yes "$(printf '\377\377\177\177')" | tr -d '\n' | head -c 384; } > huge.npy
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 96, 96), }" 73728; } > s2.npy
t sh -c "pcast diagnose --scores s2.npy --v huge.npy --mask causal --text | sed -n '3,5p;10p'"
# V beyond the FP16 accumulator of sage2pp: scaled to the kernel's range, and without one.
encoder="--q $DATA/whisper-tiny.en/encoder03_q.npy --k $DATA/whisper-tiny.en/encoder03_k.npy --v $DATA/whisper-tiny.en/encoder03_v.npy"
t sh -c "pcast sweep --kernel sage2pp --kernel sage2pp:v_range=0 $encoder | cut -d, -f1-3,23"
{ npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 4, 64), }" 0
  tail -c +129 "$DATA/whisper-tiny.en/encoder03_q.npy" | head -c 512; } > four.npy
t sh -c "pcast diagnose --kernel sage2pp $encoder --q four.npy | cut -d, -f1,17-22"
rm four.npy
# Few keys: the default number of sinks is what fits.
tokens 3 3
t pcast diagnose $all --text
t pcast diagnose $all --sinks auto:4
tokens 96 96
rm -f zero.npy huge.npy s2.npy
# The same for any number of threads and CPU level.
pcast diagnose $all $kernel --quantize --threads 1 --cpu scalar -o a.csv --trade-off a_trade_off.csv
pcast diagnose $all $kernel --quantize --threads 2 -o b.csv --trade-off b_trade_off.csv
t cmp a.csv b.csv
t cmp a_trade_off.csv b_trade_off.csv
# The page: figures, escapes, arguments; tests/oracle/report_html.py reads the rest of it.
cp q.npy 'a<b>&"c'"'"'.npy'
t pcast diagnose --q 'a<b>&"c'"'"'.npy' --k k.npy --v v.npy --mask causal $kernel --quantize --report page.html -o page.csv
t sh -c 'grep -c "<svg" page.html; grep -c "</svg>" page.html'
t grep -o '<dd><code>a.*</code></dd>' page.html
t grep -o '<code>pcast diagnose.*</code>' page.html
t sh -c "pcast diagnose $all --kernel fa3 --report - -o page.csv | grep -c '<svg'"
# A batch in front of the heads; scores in place of Q and K (all 0: every key weighs the same).
{ npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 96, 64), }" 0; tail -c 12288 q.npy; } > q4.npy
pcast diagnose $all $kernel -o rank3.csv
t sh -c "pcast diagnose --q q4.npy --k k.npy --v v.npy --mask causal $kernel | cmp - rank3.csv"
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 96, 96), }" 36864 > s.npy
t pcast diagnose --scores s.npy --v v.npy --mask causal $kernel
t pcast sweep --scores s.npy --v v.npy --mask causal --scale 1 --order forward
rm -f ./*.csv ./*.html a*.npy
# Bad input: one line, and no file, whichever result it is that cannot be written.
results="-o x.csv --trade-off y.csv --report z.html"
t pcast diagnose $results
t pcast diagnose --q q.npy --k k.npy $results
t pcast diagnose --scores s.npy $results
t pcast diagnose --scores s.npy --q q.npy --v v.npy $results
t pcast diagnose --scores s.npy --v v.npy --quantize $results
t pcast diagnose --scores s.npy --v v.npy --softmax-scale 1 $results
t pcast diagnose --scores q.npy --v v.npy $results
t pcast diagnose $all $results stray
t pcast diagnose $all $results --bogus
t pcast diagnose $all $results --kernel fa9
t pcast diagnose $all $results --kernel paper:scale=0
t pcast diagnose $all $results --kernel 'fa3:sum_scale=out'
t pcast diagnose $all $results --mask diagonal
t pcast diagnose $all $results --sinks 0
t pcast diagnose $all $results --sinks auto:x
t pcast diagnose $all $results --sinks 1,2
t pcast diagnose $all $results --sinks 96
t pcast diagnose $all $results --sinks auto:500
t pcast diagnose $all $results --softmax-scale -1
t pcast diagnose $all $results --threads 0
t pcast diagnose $all $results --cpu mmx
t pcast diagnose $all $results --layer 3,4
t pcast diagnose --q 'q{layer}.npy' --k k.npy --v v.npy $results
t pcast diagnose --q 'q{layer}.npy' --k 'k{layer}.npy' --v 'v{layer}.npy' --layer 0,x $results
t sh -c "pcast diagnose --q - --k - --v v.npy $results < q.npy"
t pcast diagnose --q absent.npy --k k.npy --v v.npy $results
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (96, 64), }" 24576 > rank2.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 96, 64), }" 24576 > rank5.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 96, 32), }" 12288 > narrow.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 96, 64), }" 49152 > heads.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 0, 64), }" 0 > empty.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 96, 64), }" 0 > headless.npy
{ npy "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 96, 64), }" 12286; printf '\000\176'; } > nan.npy
for bad in rank2 rank5 narrow heads empty nan; do
    t pcast diagnose --q q.npy --k $bad.npy --v v.npy $results
done
for bad in rank5 empty headless nan; do
    t pcast diagnose --q $bad.npy --k k.npy --v v.npy $results
done
t pcast diagnose --q q.npy --k k.npy --v nan.npy $results
tokens 96 64
t pcast diagnose $all $results
tokens 96 96
cp q.npy q07.npy
cp k.npy k07.npy
cp v.npy v07.npy
t pcast diagnose --q 'q{layer}.npy' --k 'k{layer}.npy' --v 'v{layer}.npy' --layer 7,8 $results
rm -f [a-z]*07.npy rank*.npy narrow.npy heads.npy empty.npy headless.npy nan.npy
t pcast diagnose $all -o missing/x.csv
t pcast diagnose $all -o x.csv --trade-off missing/y.csv
t pcast diagnose $all -o x.csv --trade-off y.csv --report missing/z.html
t pcast diagnose $all -o x.csv --trade-off y.csv --report .
t pcast diagnose $all -o x.csv --trade-off x.csv
t pcast diagnose $all -o ./x.csv --trade-off x.csv
mkdir folder
ln -s folder link
t pcast diagnose $all -o link/x.csv --report folder/x.csv
rm -r folder link
t pcast diagnose $all --report x.html --trade-off x.html
t pcast diagnose $all --report -
t sh -c "pcast diagnose $all --report z.html --trade-off y.csv > /dev/full"
t sh -c "pcast diagnose $all --report z.html --trade-off /dev/full -o x.csv"
t sh -c "pcast diagnose $all --report /dev/full -o x.csv"
t sh -c "PATH=\$(dirname \"\$(command -v pcast)\") pcast diagnose $all $results"
echo keep > x.csv
t pcast diagnose $all -o x.csv --report missing/z.html
t cat x.csv
t sh -c "pcast diagnose $all -o x.csv --report z.html --trade-off /dev/full"
t cat x.csv
leftovers
