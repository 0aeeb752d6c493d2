#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh PCAST CASE.sh [--make]: runs a case in an empty folder and compares what it prints with CASE.expected.
#
# A case calls `t COMMAND...`, which prints the command, its standard output, its standard error (behind "! ") and its
# exit status. $DATA is the repository's data folder. `npy HEADER ZEROS` and `safetensors HEADER ZEROS` write such a file
# to standard output, up to as many bytes of zeros. --make writes the expectation, to be read before it is committed.
set -u
PCAST=$(realpath "$1") case=$(realpath "$2") make=${3-}
DATA=$(realpath "$(dirname "$case")/../../data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/bin"
ln -s "$PCAST" "$work/bin/pcast"
PATH=$work/bin:$PATH
export PCAST DATA PATH

t() {
    printf '$'
    for word in "$@"; do printf ' %s' "$word"; done
    echo
    "$@" 2> ../stderr
    code=$?
    # The address sanitizer greets the fibres of a replay.
    sed "/^==[0-9]*==WARNING: ASan doesn't fully support makecontext/d; s/^/! /" ../stderr
    echo "[$code]"
}

# NUMBER as COUNT bytes, the lowest first.
little_endian() {
    number=$1
    for _ in $(seq "$2"); do
        printf "\\$(printf %03o $((number % 256)))"
        number=$((number / 256))
    done
}

npy() {
    printf '\223NUMPY\001\000'
    little_endian "$(printf %s "$1" | wc -c)" 2
    printf %s "$1"
    head -c "$2" /dev/zero
}

safetensors() {
    little_endian "$(printf %s "$1" | wc -c)" 8
    printf %s "$1"
    head -c "$2" /dev/zero
}

# What is left lying about, after a case that must not leave anything.
leftovers() {
    echo "files: $(ls | tr '\n' ' ')"
}

(cd "$work/run" && . "$case") > "$work/out" 2>&1 < /dev/null
sed -i "s|$DATA|DATA|g" "$work/out"
expected=${case%.sh}.expected
if [ "$make" = --make ]; then
    cp "$work/out" "$expected"
elif ! diff -u "$expected" "$work/out"; then
    echo "if the change is meant: sh tests/cli/run.sh PCAST $case --make"
    exit 1
fi
