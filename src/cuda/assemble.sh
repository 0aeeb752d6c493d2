#!/bin/sh
# SPDX-License-Identifier: MIT
# assemble.sh CUBIN REPORT NVCC ARGUMENT...: assembles PTX, keeps what ptxas reports, and shows it only where that fails.
set -eu
cubin=$1 report=$2
shift 2
"$@" -cubin -o "$cubin" > "$report" 2>&1 || {
    cat "$report" >&2
    exit 1
}
