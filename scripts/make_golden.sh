#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes data/golden (described in data/README.md): the same bytes on every machine, at every CPU level.
#
# usage: make_golden.sh [PCAST [FOLDER [LEVEL]]]   build/cli/pcast, data/golden and native where not given
set -eu
export LC_ALL=C
root=$(dirname "$0")/..
pcast=$(realpath "${1-$root/build/cli/pcast}") level=${3-native}
mkdir -p "${2-$root/data/golden}/presets"
folder=$(realpath "${2-$root/data/golden}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The paper's experiment. The columns of docs/numerics.md, section 8, go through libm and are left out.
"$pcast" sweep --delta 0:12:1 --trials 4 --cpu "$level" --records trials.records -o sweep.csv
awk -F, -v OFS=, 'NR == 1 {for (i = 1; i <= NF; i++) keep[i] = $i !~ /^(theory_f|theory_exact|mse_theory)$/}
    {line = ""; for (i = 1; i <= NF; i++) if (keep[i]) line = line (line == "" ? "" : OFS) $i; print line}' \
    sweep.csv > "$folder/paper.csv"

# Trial 0 of each of its rows. A record is "shape trial kernel delta RESULT... check"; those of a trial come in the order of the CSV.
echo "order,scale,delta,trial,other,flushed,outside,outside_flushed,subnormal,unmasked,saturated,channels,mass,kept,mse_given_p,error2,reference2,max_abs" \
    > "$folder/paper_rows.csv"
sed 's/,/ /g' sweep.csv | awk -v OFS=, 'NR == FNR {if (FNR > 1) row[rows++] = $2 "," $3 "," $4; next}
    FNR > 2 && $1 != "end" && $2 == 0 {line = row[n++] OFS $2; for (i = 5; i < NF; i++) line = line OFS $i; print line}' \
    - trials.records >> "$folder/paper_rows.csv"

# bytes: lines of numbers from 0 to 255 as bytes.
bytes() {
    awk '{line = ""; for (i = 1; i <= NF; i++) line = line sprintf("\\%03o", $i); print line}' | while read -r line; do
        # shellcheck disable=SC2059  # the line is a format: nothing but octal escapes
        printf "$line"
    done
}

# The attention problem, with a Lehmer generator whose products stay below 2^53.
problem() {
    header='{"q":{"dtype":"F8_E4M3","shape":[1,2,4,64],"data_offsets":[0,512]},"k":{"dtype":"F8_E4M3","shape":[1,2,384,64],"data_offsets":[512,49664]},"v":{"dtype":"F8_E4M3","shape":[1,2,384,64],"data_offsets":[49664,98816]}}'
    while [ $((${#header} % 8)) -ne 0 ]; do
        header="$header "
    done
    echo "$((${#header} % 256)) $((${#header} / 256)) 0 0 0 0 0 0" | bytes
    printf %s "$header"
    awk '
        function draw(n) {
            x = 48271 * x % 2147483647
            return int(x / 65536) % n
        }
        function code(number,    size, power, exponent) { # E4M3 of a whole number of at most four binary digits
            size = number < 0 ? -number : number
            if (size == 0)
                return 0
            exponent = 7
            for (power = 1; 2 * power <= size; power *= 2)
                exponent++
            return (number < 0 ? 128 : 0) + 8 * exponent + 8 * (size - power) / power
        }
        # Rows of whole numbers; where a row has fixed[head, row] = n, its first n channels are 15.
        function rows(count,    head, row, channel, number, line) {
            for (head = 0; head < 2; head++)
                for (row = 0; row < count; row++) {
                    line = ""
                    for (channel = 0; channel < 64; channel++) {
                        number = draw(31) - 15
                        line = line " " code(channel < fixed[head, row] + 0 ? 15 : number)
                    }
                    print line
                }
        }
        BEGIN {
            x = 2026
            for (head = 0; head < 2; head++)
                for (row = 0; row < 4; row++)
                    fixed[head, row] = 16
            rows(4)
            split("", fixed)
            fixed[0, 0] = fixed[0, 1] = fixed[1, 200] = 16
            fixed[1, 0] = 8
            rows(384)
            for (row = 0; row < 768; row++) {
                line = ""
                for (channel = 0; channel < 64; channel++) {
                    number = draw(144)
                    line = line " " (number < 72 ? number : 56 + number)
                }
                print line
            }
        }' | bytes
}
presets=$folder/presets
rm -f "$presets"/*.safetensors
problem > "$presets/problem.safetensors"

# What each preset answers; exit status 5: hardware semantics cannot, as its sources leave a unit open.
"$pcast" kernels > kernels.txt
sed '1d; s/ .*//' kernels.txt > names.txt
while read -r kernel; do
    for kind in '' .hardware; do
        semantics=${kind#.}
        "$pcast" attend --kernel "$kernel" --semantics "${semantics:-fp32}" --q "$presets/problem.safetensors" --k "$presets/problem.safetensors" \
            --v "$presets/problem.safetensors" --softmax-scale 0x1p-9 --cpu "$level" --metrics metrics.csv \
            -o "$presets/$kernel$kind.safetensors" 2> message.txt || [ "$?$kind" = 5.hardware ] || {
            cat message.txt >&2
            exit 1
        }
    done
done < names.txt

# One cksum for each probe of a golden suite: over its problem, in both formats, and all answers.
"$pcast" golden make suite --dim 64 --cpu "$level"
for probe in suite/probes/*.safetensors; do
    id=$(basename "$probe" .safetensors)
    echo "$id $(cat "$probe" suite/probes/"$id"/*.npy suite/expected/"$id"_[0-9][0-9]_*.npy | cksum)"
done > "$folder/suite.txt"
