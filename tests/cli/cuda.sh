# SPDX-License-Identifier: MIT
# `pcast cuda` where there is no GPU, with device code or without: one line, exit 5. tests/cuda has a driver that is none.
export CUDA_VISIBLE_DEVICES=-1
t pcast cuda
t pcast cuda --help
t pcast cuda run
t sh -c 'pcast cuda info --help | head -n 1; pcast cuda check --help | head -n 1'
t pcast cuda check --list
# What the line says depends on the machine.
t sh -c 'pcast cuda info 2> message; echo $?; wc -l < message; cut -d: -f1,2 message'
t sh -c 'pcast cuda check --part rcp --json out.json 2> message; echo $?; wc -l < message; cut -d: -f1,2 message; rm message'
t pcast cuda info stray
t pcast cuda check stray
t pcast cuda check --part rcp,sqrt
t pcast cuda check --part ''
t pcast cuda check --part
t pcast cuda check --json -
t pcast cuda check --resume
leftovers
