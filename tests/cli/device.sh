# SPDX-License-Identifier: MIT
# --device: the replayed kernels give the simulator's bytes, and what they cannot run is said.
t pcast attend --draw normal --heads 2 --n 70 --dim 32 --kernel fa3-vllm --mask causal --device replay -o a.npy --lse al.npy --metrics am.csv
t pcast attend --draw normal --heads 2 --n 70 --dim 32 --kernel fa3-vllm --mask causal -o b.npy --lse bl.npy --metrics bm.csv
t sh -c 'cmp a.npy b.npy && cmp al.npy bl.npy && cmp am.csv bm.csv && echo identical'
pcast golden make suite --dim 64 --probe walk > made
for device in replay cpu; do
    t pcast attend --kernel 'pcast-wgmma:semantics=hardware;promotion=tile;out_format=f32' --q suite/probes/walk/q.npy --k suite/probes/walk/k.npy --v suite/probes/walk/v.npy --device $device -o $device.npy --lse ${device}_lse.npy --metrics m.csv
done
t sh -c 'cmp replay.npy cpu.npy && cmp replay_lse.npy cpu_lse.npy && echo identical'
t pcast sweep --trials 2 --n 200 --dim 32 --delta 0,6 --device replay -o replay.csv
t pcast sweep --trials 2 --n 200 --dim 32 --delta 0,6 --device cpu -o cpu.csv
t sh -c 'cmp replay.csv cpu.csv && echo identical'
t pcast sweep --trials 2 --n 200 --dim 32 --delta 0,6 --device replay --records replay.records
t pcast sweep --trials 2 --n 200 --dim 32 --delta 0,6 --records cpu.records
t sh -c 'tail -n +3 replay.records > a && tail -n +3 cpu.records > b && cmp a b && echo identical'
rm -rf suite made a b ./*.npy ./*.csv ./*.json ./*.records
# What is wrong.
t pcast sweep --device gpu
t pcast attend --draw normal --device ''
t pcast sweep --trials 1 --n 200 --kernel fa3 --semantics hardware --device replay
t pcast sweep --trials 1 --n 200 --kernel fa3 --delta 0 --budget --device replay
t pcast sweep --q x.npy --k x.npy --v x.npy --device replay
t pcast attend --draw normal --heads 1 --n 64 --dim 64 --kernel pcast-wgmma --quantize --device replay -o o.npy
t pcast attend --draw normal --heads 1 --n 64 --dim 64 --kernel fa3 --budget --device replay
pcast golden make suite --dim 64 --probe walk > made
for spec in 'fa3:semantics=hardware' 'pcast-wgmma:semantics=hardware;block=128' 'pcast-wgmma:semantics=hardware;query_block=1'; do
    t pcast attend --kernel "$spec" --q suite/probes/walk/q.npy --k suite/probes/walk/k.npy --v suite/probes/walk/v.npy --device replay -o o.npy
done
t pcast sweep --trials 1 --n 200 --dim 8192 --device replay -o o.csv
rm -rf suite made
leftovers
