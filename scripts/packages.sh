# SPDX-License-Identifier: MIT
# Sourced by the other scripts: installing Debian packages, and running steps quietly.

# say WHAT...: one line of what goes on.
say() {
    printf '%s\n' "$*"
}

# die CODE WHAT...: one line of what went wrong.
die() {
    code=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$code"
}

# quietly WHAT COMMAND...: runs a command; only if it fails, shows the end of what it printed.
quietly() {
    what=$1
    shift
    log=$(mktemp)
    if "$@" > "$log" 2>&1; then
        rm -f "$log"
    else
        code=$?
        tail -n 20 "$log" >&2
        rm -f "$log"
        die 1 "$what failed (exit $code): $*"
    fi
}

# need PACKAGE...: installs those Debian packages that are missing. As another user than root, through sudo.
need() {
    missing=
    command -v dpkg-query > /dev/null || die 5 "no dpkg here: install the equivalents of: $*"
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    say "installing Debian packages:$missing"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo > /dev/null || die 5 "not root and no sudo: run apt-get install$missing, then this again"
        as_root=sudo
    fi
    quietly "updating the package lists" $as_root apt-get update
    # shellcheck disable=SC2086  # the list is meant to split
    quietly "installing packages" $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing
}

# What a build needs.
build_packages="gcc libc6-dev meson ninja-build pkg-config libgsl-dev libjansson-dev librandom123-dev"
