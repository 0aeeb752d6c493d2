#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds for AArch64 with Debian's cross compiler and runs the suites unit and golden under qemu-user. Can be repeated.
# Exit status 77 where the packages cannot be had: nothing was tested.
#
# usage: test_aarch64.sh [--all]   --all adds cli, fuzz and the unit tests of the suite long
#
# The libraries of arm64 are unpacked into a folder of their own. Installing them as foreign packages would not do: libgsl-dev
# can be there for one architecture only, and this machine's would go.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh

case ${1-} in
'') suites="--no-suite long" ;;
--all) suites="--suite cli --suite fuzz" ;;
*) die 2 "unknown option '$1'; usage: test_aarch64.sh [--all]" ;;
esac

folder=$PWD/build-aarch64-packages
root=$folder/root
libraries="libgsl-dev libjansson-dev libcmocka-dev libmpfr-dev libgomp1 librandom123-dev"

# apt-get for arm64, with lists, status and downloads of its own: nothing of this machine's changes.
foreign_apt() {
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
        -o Dir::State="$folder/state" -o Dir::State::status=/dev/null -o Dir::Cache="$folder/cache" "$@"
}

unpack_libraries() {
    rm -rf "$folder"
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" "$root"
    # shellcheck disable=SC2086  # the list is meant to split
    foreign_apt update && foreign_apt install -y --download-only --no-install-recommends $libraries || return
    for package in "$folder"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root" || return
    done
    printf "[constants]\nroot = '%s'\n" "$root" > "$folder/root.ini"
    echo "$root: $libraries" > "$folder/unpacked"
}

# In subshells: what is missing here is no failure of the tests.
# shellcheck disable=SC2086  # the list is meant to split
(need $build_packages diffutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user) || missing=yes
if [ -z "${missing-}" ] && [ "$(cat "$folder/unpacked" 2> /dev/null)" != "$root: $libraries" ]; then
    say "unpacking arm64 packages into build-aarch64-packages: $libraries"
    (quietly "unpacking" unpack_libraries) || missing=yes
    rm -rf build-aarch64
fi
if [ -n "${missing-}" ]; then
    say "AArch64 was not tested: its packages could not be installed"
    exit 77
fi

say "building for AArch64"
[ -e build-aarch64/build.ninja ] || quietly "configuring" meson setup build-aarch64 -Dcuda=disabled \
    --cross-file scripts/aarch64.ini --cross-file "$folder/root.ini"
quietly "building" ninja -C build-aarch64
say "testing under qemu"
# shellcheck disable=SC2086  # words
meson test -C build-aarch64 --no-rebuild --print-errorlogs --suite unit --suite golden $suites
