# SPDX-License-Identifier: MIT
# The console examples of docs/kernels.md print what the page says, and the page names every preset and field.
ln -s "$DATA" data
page=$DATA/../docs/kernels.md
awk '/^```console$/ {on = 1; next} /^```$/ {on = 0} on' "$page" > expected
grep '^\$ ' expected | while IFS= read -r line; do
    printf '%s\n' "$line"
    sh -c "${line#??}" 2>&1
done > printed
diff expected printed && echo "examples: $(grep -c '^\$ ' expected), as printed"
{ pcast kernels --csv | tail -n +2 | cut -d, -f1; pcast kernels --csv | head -1 | tr , '\n' | sed '/^kernel$/d; /^source$/d; /^date$/d; /^caveats$/d; /^unit_row$/d'; } > names
while IFS= read -r name; do
    grep -q "\`$name\`" "$page" || echo "not on the page: $name"
done < names
echo "names: $(wc -l < names)"
