#!/bin/sh
# SPDX-License-Identifier: MIT
# codec.sh BUILD [PYTHON [ROUNDS]]: conversions of arrays at every CPU level beside a copy, then ml_dtypes and PyTorch on
# the same floats, where PYTHON has them.
set -eu
build=$1 python=${2-python3} rounds=${3-11} here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/cli/pcast" bench codec --text --repeats "$rounds" --floats "$work"
"$python" "$here/codec_peers.py" "$work" "$rounds"
