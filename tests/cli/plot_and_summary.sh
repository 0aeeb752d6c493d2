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
