# SPDX-License-Identifier: MIT
# Every command of the README's examples works as it stands.
ln -s "$DATA" data && mkdir -p build/cli out && ln -s "$PCAST" build/cli/pcast
awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on && /pcast/' "$DATA/../README.md" > commands
while IFS= read -r command; do
    echo "$ $command"
    sh -c "$command" > output 2>&1
    echo "[$?] $(wc -l < output) lines"
done < commands
