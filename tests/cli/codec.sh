# SPDX-License-Identifier: MIT
# The codec's filter: formats, policies, bad lines.
t sh -c "printf '1\n464\n0x43E80001\n-0\n0x1p-10\n0x1.000002p-10\nnan\n-inf\n-nan\n1e-3\n\n  448 \n1e40\n' | pcast codec"
t sh -c "printf '464\n0x43E80001\n-inf\n-nan\n' | pcast codec --overflow nan --nan sign"
t sh -c "printf 'inf\n1e9\n' | pcast codec --inf nan"
t sh -c "printf 'inf\n1e9\n' | pcast codec --inf sat --overflow nan"
t sh -c "printf '0x7E\n0x80\n0x01\n0xff\n1.1\n' | pcast codec --from e4m3 --to f32"
t sh -c "printf '0x7E\n0x01\n' | pcast codec --from e4m3 --to f16"
t sh -c "printf '0x7E\n0x01\n' | pcast codec --from e4m3 --to bf16"
t sh -c "printf '0x7E\n0x01\n' | pcast codec --from e4m3 --to f64"
# One rounding from text: just above a float16 midpoint that float64 cannot tell from the midpoint itself.
t sh -c "printf '1.00048828125000000000000000000000001\n1.00048828125\n' | pcast codec --from f16"
t sh -c "printf '1.0625000000000000000000000000000001\n1.0625\n' | pcast codec --from e4m3 --to f32"
t sh -c "printf '1.0625000000001\n0x3FF1000000000001\n' | pcast codec --from f64"
t sh -c "printf '1\nabc\n2\n' | pcast codec"
t sh -c "printf '0x1FFFFFFFF\n' | pcast codec"
t sh -c "printf '0x100\n' | pcast codec --from e4m3 --to f32"
t sh -c "printf '1 2\n' | pcast codec"
t sh -c "printf '+0x3F800000\n' | pcast codec"
t sh -c "printf '1\000junk\n' | pcast codec"
t sh -c "printf '1\nabc\n' | pcast codec -o x.csv"
t sh -c "printf '65519.99\n65520\n-nan\ninf\n' | pcast codec --from f32 --to f16"
t sh -c "printf '0x7C\n0x7B\n0xFE\n' | pcast codec --from e5m2 --to f32"
t sh -c "printf '57344\n61440\n-inf\n-0\n' | pcast codec --to e5m2fnuz"
t sh -c "printf '57344\n61440\n-inf\nnan\n' | pcast codec --to e5m2 --overflow nan"
t sh -c "printf '0x80\n0x81\n0x7F\n' | pcast codec --from e4m3 --to e4m3fnuz"
t pcast codec --from f8
t pcast codec --overflow maybe
t pcast codec stray
leftovers
