#!/bin/sh
# SPDX-License-Identifier: MIT
# ptx.sh PTX REPORT: the device code holds the instructions that the probes are about; the strict and the attention kernel hold none (but the
# latter's ex2 and lg2) that is approximate, flushes subnormals, or that ptxas may contract (an addition or product without .rn; nvcc with --fmad=false
# writes .rn, otherwise fma); no kernel spills. Prints each kernel's registers.
set -u
ptx=$1 report=$2 status=0

complain() {
    echo "$*"
    status=1
}

# Lines of strict kernels that may not be there, behind the kernel's name.
lax_lines() {
    awk '/^\.visible \.entry|^\.entry/ {name = $0; sub(/.*\.entry /, "", name); sub(/\(.*/, "", name)}
        /^}/ {name = ""}
        /(ex2|lg2)\.approx\.ftz\.f32/ && name ~ /^pcast_attention/ {next}
        name ~ /^pcast_(row|attention)/ && (/\.ftz/ || /\.approx/ || /(add|sub|mul|mad)(\.f32|\.f64)[ \t]/) {print name ": " $0}' "$1"
}

# kernel NAME PATTERN: the kernel has a line like it.
kernel() {
    awk -v name="$1" '$0 ~ "\\.entry " name "\\(" {on = 1} on {print} /^}/ {on = 0}' "$ptx" | grep -q "$2" ||
        complain "$1 lacks $2"
}

# What is looked for is found.
bad=$(mktemp)
for line in 'ex2.approx.f32 %f1, %f2;' 'add.rn.ftz.f32 %f1, %f2, %f3;' 'mul.f32 %f1, %f2, %f3;' 'add.f64 %fd1, %fd2, %fd3;'; do
    printf '.visible .entry pcast_row_x(\n)\n{\n\t%s\n\tadd.rn.f32 %%f1, %%f2, %%f3;\n}\n.visible .entry pcast_probe(\n)\n{\n\t%s\n}\n' \
        "$line" "$line" > "$bad"
    [ "$(lax_lines "$bad" | wc -l)" = 1 ] || complain "not found once: $line"
done
rm -f "$bad"

kernel pcast_probe_cvt_e4m3 'cvt\.rn\.satfinite\.e4m3x2\.f32'
kernel pcast_probe_cvt_e5m2 'cvt\.rn\.satfinite\.e5m2x2\.f32'
kernel pcast_probe_ex2 'ex2\.approx\.ftz\.f32'
kernel pcast_probe_ex2_full 'ex2\.approx\.f32'
kernel pcast_probe_expf 'fma\.rm\.f32'
kernel pcast_probe_expf_fast 'ex2\.approx\.f32'
kernel pcast_probe_rcp 'rcp\.approx\.ftz\.f32'
kernel pcast_probe_lg2 'lg2\.approx\.ftz\.f32'
# in_order NAME PATTERN...: the kernel has lines like them, the first of each in this order.
in_order() {
    name=$1 last=0
    shift
    for pattern in "$@"; do
        line=$(awk -v name="$name" '$0 ~ "\\.entry " name "\\(" {on = 1} on {print NR ":" $0} /^}/ {on = 0}' "$ptx" |
            grep "$pattern" | head -n 1 | cut -d: -f1)
        [ "${line:-0}" -gt "$last" ] || complain "$name: not in order: $pattern"
        last=${line:-0}
    done
}

for formats in e4m3_e4m3 e4m3_e5m2 e5m2_e4m3 e5m2_e5m2; do
    for source in rs ss; do
        for n in 8 256; do
            kernel pcast_probe_wgmma_${source}_n${n}_$formats \
                "wgmma\.mma_async\.sync\.aligned\.m64n${n}k32\.f32\.$(echo $formats | tr _ .)"
            in_order pcast_probe_wgmma_${source}_n${n}_$formats st.shared 'fence\.proxy\.async\.shared::cta' 'bar\.sync' 'wgmma\.fence' \
                'wgmma\.mma_async' 'wgmma\.commit_group' 'wgmma\.wait_group' 'st\.global'
        done
    done
done

for dim in 64 128 256; do
    in_order pcast_attention_$dim st.shared 'fence\.proxy\.async\.shared::cta' 'wgmma\.fence' 'wgmma\.mma_async' 'wgmma\.commit_group' \
        'wgmma\.wait_group' 'ex2\.approx\.ftz' 'cvt\.rn\.satfinite\.e4m3x2' 'lg2\.approx\.ftz'
done
serialized=$(grep -E 'C7510|serialized' "$report")
[ -z "$serialized" ] || complain "$serialized"

[ -z "$(lax_lines "$ptx")" ] || complain "$(lax_lines "$ptx")"

spills=$(grep 'bytes spill' "$report" | grep -vc ' 0 bytes spill stores, 0 bytes spill loads')
[ "$spills" = 0 ] || complain "$spills kernels spill: $(grep 'bytes spill' "$report" | sort | uniq -c)"
entries=$(grep -c '\.entry ' "$ptx")
[ "$(grep -c 'Used [0-9]* registers' "$report")" = "$entries" ] || complain "the report is not about $entries kernels"
sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p; s/.*Used \([0-9]*\) registers.*/    \1 registers/p" "$report"
exit $status
