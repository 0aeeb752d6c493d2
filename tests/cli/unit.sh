# SPDX-License-Identifier: MIT
# Single operations: every unit, forms of input, files, bad lines.
t sh -c "printf '0.5\n-0x1p-1\n0xC121F972\n\n  -126 \n-126.000008\n1e40\n-inf\nnan\n-0\n' | pcast unit --op ex2"
for op in ex2 ex2_noftz rcp lg2 expf expf_fast fa4_poly3 fa4_poly5 exp exp2 log log2 tanh cvt_e4m3; do
    t sh -c "printf '0.3\n-126.5\n-nan\n' | pcast unit --op $op"
done
t sh -c "printf '464\n0x43E80001\n-0\n-1e-9\n-inf\n1.0625\n' > values.txt; pcast unit --op cvt_e4m3 values.txt -o codes.csv; cat codes.csv"
t sh -c "printf '%s\n' 3 | pcast unit --op rcp -"
t pcast unit --help
t sh -c "printf '1\nabc\n2\n' | pcast unit --op rcp"
t sh -c "printf '0x1FFFFFFFF\n' | pcast unit --op rcp -o x.csv"
t sh -c "printf '1\000junk\n' | pcast unit --op rcp"
t sh -c "printf '1\n2,5\n' > bad.txt; pcast unit --op rcp bad.txt -o x.csv"
t pcast unit --op rcp missing.txt
t pcast unit --op rcp .
t pcast unit --op sin
t pcast unit --op
t pcast unit
t pcast unit --op rcp values.txt stray
t pcast unit --op rcp values.txt -o no/where.csv
t sh -c "echo 1 | pcast unit --op rcp > /dev/full"
leftovers
