# SPDX-License-Identifier: MIT
# Help, version, theory, side file, and what stays in place when something ends early.
t pcast
t pcast bogus
t sh -c 'pcast --help | head -n 1'
t sh -c 'for c in sweep merge theory compare diagnose paper plot summary diff codec unit info; do pcast $c --help | head -n 1; done'
t sh -c 'pcast sweep --help > /dev/full'
t sh -c 'pcast --version | cut -d" " -f1'
t sh -c 'pcast info | cut -d: -f1'
t pcast info stray
t sh -c 'pcast theory --delta 6.5 --order forward --scale 1,256,448 | cut -d, -f9,11,12'
t sh -c 'pcast theory --delta 5:7:1 --order forward --scale 1 | cut -d, -f4,13'
t pcast theory --sinks 200
t pcast theory --n 4
t pcast theory --trials 5
t pcast sweep --delta 1 --trials 1 --n 64 --dim 4 --scale 1 --order forward -o a.csv
t sh -c 'grep -c . a.csv; grep -o "\"seed\": \"1\"" a.meta.json'
t sh -c 'ln -s a.csv link.csv; pcast sweep --delta 2 --trials 1 --n 64 --dim 4 --scale 1 --order forward -o link.csv; test -L link.csv && cut -d, -f4 a.csv'
t sh -c 'pcast sweep --trials 2 | head -n 1 | cut -c1-12'
t sh -c 'pcast sweep --trials 1 --delta 1 -o /dev/stdout | wc -l'
t sh -c 'pcast sweep --trials 1 --delta 4 --n 50 --seed 18446744073709551615 --scale 1 --order forward | cut -d, -f10'
t sh -c "pcast sweep --kernel 'paper:order=reverse;scale=256;overflow=nan' --order forward --trials 1 --delta 3 --n 99 --dim 2 | cut -d, -f1-4"
t pcast theory --kernel paper:mask=causal
t pcast theory --sigma 0
t pcast theory --tau -1
t sh -c 'pcast theory --dp --scale 256,257,448 | cut -d, -f1-4,6'
t pcast theory --dp --scale 0
# Interrupted: neither the file nor its temporary.
t sh -c 'pcast sweep --trials 100000 -o late.csv & p=$!; sleep 1; kill -TERM $p; wait $p 2> /dev/null; echo $?' 2> /dev/null
leftovers
