# SPDX-License-Identifier: MIT
# Every command of the README's examples works as it stands. Answers to a golden suite, for which the README has a script in
# Python, are here those that it expects of fa3.
ln -s "$DATA" data && mkdir -p build/cli out && ln -s "$PCAST" build/cli/pcast
awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on && /pcast/' "$DATA/../README.md" > commands
while IFS= read -r command; do
    echo "$ $command"
    case $command in
    *'golden check'*)
        mkdir -p out/answers
        awk '/"kernels"/ {mine = 0} /"fa3",?$/ {mine = 1} mine && /"(o|lse)": "/ {gsub(/[",]/, ""); print $2}' out/suite/manifest.json |
            while read -r file; do
                answer=$(basename "$file")
                cp "out/suite/$file" "out/answers/${answer%_[0-9][0-9]_*}_${answer##*_}"
            done
        ;;
    esac
    sh -c "$command" > output 2>&1
    echo "[$?] $(wc -l < output) lines"
done < commands
