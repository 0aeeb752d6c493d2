# SPDX-License-Identifier: MIT
# Help, version, theory, side file, and what stays in place when something ends early.
t pcast
t pcast bogus
t sh -c 'pcast --help | head -n 1'
t sh -c 'for c in sweep theory plot summary codec info; do pcast $c --help | head -n 1; done'
t sh -c 'pcast sweep --help > /dev/full'
t sh -c 'pcast --version | cut -d" " -f1'
t sh -c 'pcast info | cut -d: -f1'
t pcast info stray
t sh -c 'pcast theory --delta 6.5 --order forward --scale 1,256,448 | cut -d, -f8-10'
t sh -c 'pcast theory --delta 5:7:1 --order forward --scale 1 | cut -d, -f4,11'
t pcast theory --sinks 200
t pcast theory --n 4
t pcast theory --trials 5
t pcast sweep --delta 1 --trials 1 --n 64 --dim 4 --scale 1 --order forward -o a.csv
t sh -c 'grep -c . a.csv; grep -o "\"seed\": \"1\"" a.meta.json'
t sh -c 'ln -s a.csv link.csv; pcast sweep --delta 2 --trials 1 --n 64 --dim 4 --scale 1 --order forward -o link.csv; test -L link.csv && cut -d, -f4 a.csv'
t sh -c 'pcast sweep --trials 2 | head -n 1 | cut -c1-12'
# Interrupted: neither the file nor its temporary.
t sh -c 'pcast sweep --trials 100000 -o late.csv & p=$!; sleep 1; kill -TERM $p; wait $p 2> /dev/null; echo $?' 2> /dev/null
leftovers
