#!/bin/sh
# SPDX-License-Identifier: MIT
# sweep.sh BUILD [PYTHON [ROUNDS]]: the default sweep beside NumPy's and PyTorch's, one after the other in every round, and
# the ratios. They must agree first.
set -eu
exec "${2-python3}" "$(dirname "$0")/peers/sweep.py" "$1/cli/pcast" "${3-7}"
