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
# Defaults and policies of every target; text into every source, its overflow bound and the least midpoint too.
all='e4m3 e5m2 e4m3fnuz e5m2fnuz f16 bf16 f32 f64'
for options in '' '--overflow sat --nan canonical' '--overflow nan --nan sign' '--inf sat' '--inf nan'; do
    t sh -c "for to in $all; do printf '1e300\n-inf\n-nan\n-0\n' | pcast codec --from f64 --to \$to $options; done"
done
t sh -c "for from in $all; do printf '1e309\n-inf\n-nan\n-0\n-1e-400\n' | pcast codec --from \$from --to f64; done"
once() {
    format=$1
    shift
    t sh -c "printf '%s\n' $* | pcast codec --from $format --to f64"
}
once e4m3 464 464.00000000000000000001 -0.0009765625 -0.00097656250000000000000001
once e5m2 61440 61439.99999999999999999999 1.125 1.12500000000000000000000001 0x1p-17 0x1.00000000000000000001p-17
once e4m3fnuz 248 247.99999999999999999999 1.0625 1.06250000000000000000000001 -0x1p-11 0x1.00000000000000000001p-11
once e5m2fnuz 61440 61439.99999999999999999999 1.125 1.12500000000000000000000001 -0x1p-18 0x1.00000000000000000001p-18
once f16 65520 65519.99999999999999999999 0x1p-25 0x1.00000000000000000001p-25
once bf16 0x1.FFp127 0x1.FEFFFFFFFFFFFFFFFFFFp127 1.00390625 1.00390625000000000000001 -0x1p-134
once f32 0x1.FFFFFFp127 0x1.FFFFFEFFFFFFFFFFFFFFp127 0x1.000001p0 0x1.00000100000000000001p0 -0x1p-150
once f64 1.0000000001 0x1.00000000000008p0 0x1.000000000000080000001p0
t pcast codec --help
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
