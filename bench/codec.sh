#!/bin/sh
# SPDX-License-Identifier: MIT
# codec.sh BUILD [PYTHON [ROUNDS]]: conversions of arrays at every CPU level beside a copy, then ml_dtypes and PyTorch on
# the same floats, where PYTHON has them.
set -eu
build=$1 python=${2-python3} rounds=${3-11} here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bench/bench_codec" "$rounds" "$work"
"$python" "$here/codec_peers.py" "$work" "$rounds"
