#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh LIBRARY...: every global symbol of our libraries begins with pcast_, and no object, global or local, is
# writable data (const tables may live in .data.rel.ro, which is read-only once relocated).
status=0
for library in "$@"; do
    symbols=$(nm --defined-only --extern-only "$library" 2>/dev/null | awk 'NF == 3 {print $3}')
    [ -n "$symbols" ] || { echo "$library: no symbols found"; exit 1; }
    foreign=$(printf '%s\n' "$symbols" | grep -vE '^(pcast_|\.gomp_critical_user_pcast_)')
    writable=$(nm --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[bBcCdDsS]$/ {print $3}' |
        while read -r name; do
            objdump -t "$library" 2>/dev/null | awk -v name="$name" \
                '$NF == name && $0 !~ /UND/ && $0 !~ /\.data\.rel\.ro/ && $0 !~ /gomp_critical/ {print name; exit}'
        done)
    if [ -n "$foreign$writable" ]; then
        echo "$library: without the prefix pcast_: $foreign; writable: $writable"
        status=1
    fi
done
exit $status
