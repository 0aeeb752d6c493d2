#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh FILE: the file's bytes as the elements of a C array.
set -eu
od -An -v -tx1 "$1" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
