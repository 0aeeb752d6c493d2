# SPDX-License-Identifier: MIT
# Every mistake gets one line that names the field or file, the right exit code, and leaves no file.
t pcast sweep --order sideways -o x.csv
t pcast sweep --order forward,, -o x.csv
t pcast sweep --scale 0 -o x.csv
t pcast sweep --scale -1 -o x.csv
t pcast sweep --scale nan -o x.csv
t pcast sweep --scale 1,inf -o x.csv
t pcast sweep --delta nan -o x.csv
t pcast sweep --delta 1,x -o x.csv
t pcast sweep --delta 0:12 -o x.csv
t pcast sweep --delta 0:12:0 -o x.csv
t pcast sweep --delta 12:0:1 -o x.csv
t pcast sweep --delta 0:1e9:1 -o x.csv
t pcast sweep --delta '' -o x.csv
t pcast sweep --delta 1e39 -o x.csv
t sh -c 'pcast sweep --order "$(printf "forward\nx")" -o x.csv'
t pcast sweep --n 4096,1 -o x.csv
t pcast sweep -o ''
t pcast sweep --n 0 -o x.csv
t pcast sweep --n -5 -o x.csv
t pcast sweep --n 1 -o x.csv
t pcast sweep --n 4 -o x.csv
t pcast sweep --n 1e3 -o x.csv
t pcast sweep --dim 0 -o x.csv
t pcast sweep --block 0 -o x.csv
t pcast sweep --sinks 0 -o x.csv
t pcast sweep --sinks 129 -o x.csv
t pcast sweep --sinks 5 --block 4,8 -o x.csv
t pcast sweep --sinks auto -o x.csv
t pcast sweep --trials 0 -o x.csv
t pcast sweep --trials 99999999999 -o x.csv
t pcast sweep --seed -1 -o x.csv
t pcast sweep --threads 0 -o x.csv
t pcast sweep --cpu mmx -o x.csv
t pcast sweep --kernel fa9 -o x.csv
t pcast sweep --kernel 'paper:tau=1' -o x.csv
t pcast sweep --kernel 'paper:scale' -o x.csv
t pcast sweep --mask sideways -o x.csv
t pcast sweep --mask causal -o x.csv
t pcast sweep --layer 3 -o x.csv
t pcast sweep --source me -o x.csv
t pcast sweep --bogus -o x.csv
t pcast sweep -x
t pcast sweep --delta
t pcast sweep -o
t pcast sweep stray -o x.csv
t pcast sweep --trials 2 -o missing/x.csv
t pcast sweep --trials 2 -o .
t sh -c 'pcast sweep --trials 2 --delta 1 > /dev/full'
t sh -c 'pcast sweep --trials 2 --delta 1 -o /dev/full'
ln -s nowhere dangling.csv
t pcast sweep --trials 2 -o dangling.csv
rm dangling.csv
mkdir blocked.meta.json
t pcast sweep --trials 2 --delta 1 -o blocked.csv
rmdir blocked.meta.json
mkdir full.csv.d && echo keep > old.csv
t pcast sweep --scale 0 -o old.csv
t cat old.csv
leftovers
