# SPDX-License-Identifier: MIT
# `pcast cuda` over a driver that is none ($FAKE, tests/cuda/fake_driver.c): parts done, kept, done again, faulty ones, no device.
export LD_LIBRARY_PATH=$FAKE
# Times differ.
timeless() {
    "$@" > ../printed
    code=$?
    sed 's/[0-9.]* s\>/T s/' ../printed
    return $code
}
t pcast cuda info
t sh -c 'pcast info | grep cuda'
t timeless pcast cuda check --quick --part rcp,cvt-e4m3 --json out.json
t timeless pcast cuda check --quick --part cvt-e4m3,cvt-e5m2,ex2,ex2-full,rcp,lg2,expf,expf-fast,tensor-core --json out.json
t sh -c "sed 's/\"seconds\": [0-9.e-]*/\"seconds\": T/; s/\"date\": .*Z/\"date\": \"DATE/; s/\"\(kernels\|program\)\": .*,/\"\1\": HASH,/' out.json"
t timeless pcast cuda check --quick --part strict,wgmma
t sh -c 'for device in cpu cuda; do pcast sweep --trials 6 --threads 4 --n 300 --dim 32 --delta 0,6 --order forward,reverse --device $device -o $device.csv; done; cmp cpu.csv cuda.csv && rm cpu.* cuda.*'
export PCAST_FAKE_CUDA=flip
t timeless pcast cuda check --quick --part rcp --json out.json
t timeless pcast cuda check --quick --part rcp,tensor-core --json out.json --again
t timeless pcast cuda check --quick --part rcp --json out.json
t sh -c "grep -A2 '\"input\": \"0x' out.json | head -n 3; grep 'zero\\|-0\\|contra' out.json"
t timeless pcast cuda check --quick --part strict,wgmma
export PCAST_FAKE_CUDA=fail
t pcast sweep --trials 2 --n 300 --dim 32 --device cuda -o cuda.csv
t timeless pcast cuda check --part ex2 --json out.json
t timeless pcast cuda check --part ex2
sed -i 's/Fake H200/Real H200/' out.json
t timeless pcast cuda check --quick --part rcp --json out.json
t timeless pcast cuda check --quick --part rcp --json out.json --again
export PCAST_FAKE_CUDA=memory
t timeless pcast cuda check --part ex2
t timeless pcast cuda check --part tensor-core
export PCAST_FAKE_CUDA=image
t pcast cuda info
export PCAST_FAKE_CUDA=old
t pcast cuda info
export PCAST_FAKE_CUDA=none
t pcast cuda check
t sh -c 'pcast info | grep cuda'
unset PCAST_FAKE_CUDA
echo '{"parts": 1}' > other.json
echo 'no JSON' > none.json
t pcast cuda check --quick --json other.json
t pcast cuda check --quick --json none.json
t timeless pcast cuda check --quick --part ex2 --json missing/out.json
leftovers
