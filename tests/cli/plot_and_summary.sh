# SPDX-License-Identifier: MIT
# Figures and summaries of ordinary and odd files. Pictures are only looked at for being there and well-formed.
svg() { # FILE: what kind of picture it is
    head -c 200 "$1" | grep -q '<svg' && tail -c 20 "$1" | grep -q '</svg>' && echo "$1: svg"
    head -c 8 "$1" | grep -q PNG && echo "$1: png"
}
t pcast sweep --trials 3 --delta 4,6,12 --n 512 --dim 8 -o s.csv
t pcast plot s.csv -o s.svg
t pcast plot s.csv -o s.png
svg s.svg
svg s.png
t sh -c 'pcast plot - < s.csv | grep -c "</svg>"'
t sh -c 'pcast plot s.csv --script | grep -c "Delta_c, S ="'
t pcast sweep --trials 1 --delta 6 --n 512 --dim 8 -o single.csv
t pcast plot single.csv -o single.svg
svg single.svg
t pcast sweep --q "$DATA/smollm2-135m/layer24_q.npy" --k "$DATA/smollm2-135m/layer24_k.npy" --v "$DATA/smollm2-135m/layer24_v.npy" --mask causal --scale 1,256 --order forward -o h.csv
t pcast plot h.csv -o h.svg
svg h.svg
t pcast summary h.csv
t sh -c 'pcast summary s.csv | wc -l'
# Files that cannot be drawn, and files that can although something is missing.
cut -d, -f1-18 s.csv > no_mse.csv
cut -d, -f1-11,19 s.csv > no_errors.csv
head -n 1 s.csv > header.csv
: > empty.csv
sed '2s/forward/upward/' s.csv > order.csv
sed '3s/,/,,/' s.csv > ragged.csv
printf 'order,scale,delta,underflow,mse\nforward,1,6,nan,0\n' > nothing_to_draw.csv
t pcast plot no_mse.csv -o x.svg
t pcast plot no_errors.csv -o no_errors.svg
svg no_errors.svg
t pcast plot nothing_to_draw.csv -o nothing.svg
svg nothing.svg
for bad in header empty order ragged absent; do
    t pcast plot $bad.csv -o x.svg
    t pcast summary $bad.csv
done
t pcast plot s.csv -o x.gif
t pcast plot s.csv -o missing/x.svg
t pcast plot
t pcast plot s.csv h.csv
t pcast summary
t sh -c 'PATH=$(dirname "$(command -v pcast)") pcast plot s.csv -o x.svg'
leftovers
# Contents: numbers that can be checked by eye. A tenth at 4 + 0.05/0.2, half at 6 + 0.05/0.2; the largest gain of S = 256 is
# 8e-5/1e-5 at 6, of the reverse order 6e-5/1e-5 at 5. Unsorted on purpose.
cat > crafted.csv <<'CSV'
order,scale,delta,underflow,underflow_se,mse,mse_se,n,block,sinks,trials
forward,1,7,0.65,0.01,9e-5,1e-6,512,64,2,9
forward,1,4,0.05,0.02,2e-5,1e-6,512,64,2,9
forward,1,5,0.25,0.03,6e-5,2e-6,512,64,2,9
forward,1,6,0.45,0.04,8e-5,3e-6,512,64,2,9
forward,256,5,0.01,0.05,2e-5,4e-6,512,64,2,9
forward,256,6,0.02,0.06,1e-5,5e-6,512,64,2,9
reverse,1,5,0.2,0.07,1e-5,6e-6,512,64,2,9

CSV
t pcast summary crafted.csv
t sh -c 'pcast plot crafted.csv --script | grep -A 4 -E "^.(underflow0|mse1|underflow2) <<"'
t sh -c 'pcast plot crafted.csv --script | grep -c "yerrorbars"'
t sh -c 'pcast plot crafted.csv --script | sed -n "/^.theory0 <</,/^EOD/p" | sed -n "2p;122p"'
t sh -c "pcast theory --order forward --scale 1 --n 512 --block 64 --sinks 2 --delta 4,7 | cut -d, -f4,15"
t sh -c 'seq 10 | sed "s/.*/forward,&,5,0.1,1e-5/; 1i order,scale,delta,underflow,mse" | pcast plot - --script | grep -o "rgb .#[0-9A-F]*. title" | sort -u | wc -l'
# A head missing from one series leaves a gap, not another head's numbers.
cat > heads.csv <<'CSV'
order,scale,gap,gap_sigma,underflow,mse,rel_l2,layer,head
forward,1,5,2,0.1,1e-5,0.01,3,0
forward,1,6,3,0.2,1e-5,0.02,3,1
forward,256,6,3,0.3,1e-5,0.03,3,1
CSV
t pcast summary heads.csv
# Fields that are no numbers, or out of range.
for change in 's/,5,0.25/,inf,0.25/' 's/,5,0.25/,x,0.25/' 's/,0.25,/,much,/' 's/,512,64/,1e30,64/' 's/,512,64/,0,64/'; do
    sed "$change" crafted.csv > changed.csv
    t pcast summary changed.csv
    t pcast plot changed.csv -o x.svg
done
# Failed writes are noticed.
t sh -c 'pcast plot s.csv > /dev/full'
t sh -c 'pcast plot s.csv -o /dev/full'
t pcast plot s.csv -o ''
rm -f ./*.csv ./*.json ./*.svg ./*.png
leftovers
# Theory without a sweep.
t sh -c 'pcast theory --delta 0:12:3 --scale 1 --n 256 | pcast plot - | grep -c "</svg>"'
t sh -c 'pcast theory --dp | pcast plot - --script | grep -c "^[0-9.]* [0-9.e-]* [0-9.e-]*$"'
t sh -c 'pcast theory --dp --scale 1,2 -o dp.csv && pcast plot dp.csv -o dp.png'
svg dp.png
rm -f dp.*
# An error budget.
t sh -c 'pcast attend --draw normal --heads 2 --n 64 --dim 16 --kernel fa3 --quantize --budget > budget.csv && pcast plot budget.csv -s | grep -c "title .fa3, head"'
t pcast plot budget.csv -o budget.svg
svg budget.svg
rm -f budget.*
