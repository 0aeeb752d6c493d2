# SPDX-License-Identifier: MIT
# The console examples of the pages print what the pages say, docs/kernels.md names every preset and field, and docs/golden.md
# every fault with its margin.
ln -s "$DATA" data
for page in kernels diagnosis golden cuda; do
    awk '/^```console$/ {on = 1; next} /^```$/ {on = 0} on' "$DATA/../docs/$page.md" > expected
    grep '^\$ ' expected | while IFS= read -r line; do
        printf '%s\n' "$line"
        sh -c "${line#??}" 2>&1
    done > printed
    diff expected printed && echo "$page: $(grep -c '^\$ ' expected) examples, as printed"
done
{ pcast kernels --csv | tail -n +2 | cut -d, -f1; pcast kernels --csv | head -1 | tr , '\n' | sed '/^kernel$/d; /^source$/d; /^date$/d; /^caveats$/d; /^unit_row$/d'; } > names
while IFS= read -r name; do
    grep -q "\`$name\`" "$DATA/../docs/kernels.md" || echo "not on the page: $name"
done < names
echo "names: $(wc -l < names)"
pcast golden probes --faults | tail -n +2 | cut -d, -f1,2,5 > faults
while IFS=, read -r probe fault margin; do
    grep -q "^| $probe | \`$fault\` .* | $margin |$" "$DATA/../docs/golden.md" || echo "not on the page: $probe, $fault, $margin"
done < faults
echo "faults: $(wc -l < faults)"
