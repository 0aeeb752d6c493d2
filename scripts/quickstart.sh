#!/bin/sh
# SPDX-License-Identifier: MIT
# From a clean Debian 12 to the paper's sweep: installs what is missing, builds, writes out/sweep.csv and out/sweep.svg, and
# says in ten lines what they show. Can be repeated. Options are passed on to `pcast sweep`.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh

# shellcheck disable=SC2086  # the list is meant to split
need $build_packages gnuplot-nox fonts-dejavu-core
say "building"
[ -e build/build.ninja ] || quietly "configuring" meson setup build
quietly "building" ninja -C build cli/pcast
mkdir -p out
say "sweeping Delta, S and order into out/sweep.csv"
build/cli/pcast sweep -o out/sweep.csv "$@"
build/cli/pcast plot out/sweep.csv -o out/sweep.svg
say "figure: out/sweep.svg"
say ""
build/cli/pcast summary out/sweep.csv
