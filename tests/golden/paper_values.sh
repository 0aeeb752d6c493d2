#!/bin/sh
# SPDX-License-Identifier: MIT
# paper_values.sh PCAST: the paper's experiment at 400 trials, forward order, against independently computed numbers.
#
# The MSE of S = 1 over that of S = 256 is within [5.5, 8], [4.8, 7], [3.2, 4.3] at Delta 5, 6, 7; the underflow outside
# the sinks' block is within three standard errors of the exact 0.2286, 0.5287, 0.8156, and more than three away
# from the leading order F = 0.1835 at 5 and 0.8639 at 7.
set -eu
"$1" sweep --order forward --scale 1,256 --delta 5,6,7 --trials 400 | awk -F, '
    NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next}
    {mse[$column["scale"], $column["delta"]] = $column["mse"]}
    $column["scale"] == 1 {
        d = $column["delta"]; outside[d] = $column["underflow_outside"]; se[d] = $column["underflow_se"]
    }
    function distance(d, value,  x) {x = (outside[d] - value) / se[d]; return x < 0 ? -x : x}
    function check(what, ok) {print (ok ? "ok: " : "WRONG: ") what; if (!ok) bad = 1; checks++}
    END {
        split("5.5 4.8 3.2", low, " "); split("8 7 4.3", high, " "); split("0.2286 0.5287 0.8156", exact, " ")
        for (i = 1; i <= 3; i++) {
            d = i + 4; ratio = mse[1, d] / mse[256, d]
            check(sprintf("Delta %d: MSE ratio %.2f in [%s, %s]", d, ratio, low[i], high[i]), ratio >= low[i] && ratio <= high[i])
            check(sprintf("Delta %d: underflow outside %.4f, exact %s, %.2f standard errors", d, outside[d], exact[i],
                          distance(d, exact[i])), distance(d, exact[i]) <= 3)
        }
        check(sprintf("Delta 5: %.1f standard errors off F", distance(5, 0.1835)), distance(5, 0.1835) > 3)
        check(sprintf("Delta 7: %.1f standard errors off F", distance(7, 0.8639)), distance(7, 0.8639) > 3)
        exit bad || checks != 8
    }'
