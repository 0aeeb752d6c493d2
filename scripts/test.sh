#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds, and runs them (suites: TESTING.md). Can be repeated.
#
# usage: test.sh [--quick | --slow]   --quick leaves out the exhaustive suite, --slow adds the slow one
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh

case ${1-} in
'') suites="--no-suite slow" ;;
--quick) suites="--no-suite slow --no-suite exhaustive" ;;
--slow) suites= ;;
*) die 2 "unknown option '$1'; usage: test.sh [--quick | --slow]" ;;
esac

# shellcheck disable=SC2086  # the list is meant to split
need $build_packages g++ binutils diffutils libcmocka-dev libmpfr-dev gnuplot-nox fonts-dejavu-core python3 python3-venv

# The Python cross-checks run in an environment of their own, so that nothing else on the machine matters.
python=$PWD/build/python/bin/python
mkdir -p build
if ! "$python" -c 'import numpy, ml_dtypes, mpmath, safetensors, html5lib' 2> /dev/null; then
    say "installing Python packages for the cross-checks: $(grep -v '^#' tests/requirements.txt | tr '\n' ' ')"
    quietly "making a Python environment" /usr/bin/python3 -m venv --clear build/python
    "$python" -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt > build/pip.log 2>&1 ||
        say "could not install them (see build/pip.log): the cross-checks that need them will be skipped"
fi

say "building"
if [ -e build/build.ninja ]; then
    quietly "configuring" meson setup --reconfigure build -Dpython="$python"
else
    quietly "configuring" meson setup build -Dpython="$python"
fi
quietly "building" ninja -C build
say "testing"
# shellcheck disable=SC2086  # words
meson test -C build --no-rebuild --print-errorlogs $suites
