# SPDX-License-Identifier: MIT
# Two kernels on the same draws: sentences for each outcome, and mistakes.
t pcast compare paper:scale=256 paper:scale=256 --delta 5 --n 256 --trials 20 --text
t pcast compare paper:scale=256 paper:scale=1 --delta 6 --n 256 --trials 60 --text
t pcast compare paper:scale=1 paper:scale=256 --delta 6 --n 256 --trials 60 --text
t pcast compare paper:scale=256 'paper:scale=256;order=reverse' --delta 9 --n 256 --trials 60 --text --margin 0.02
t pcast compare paper:scale=256 paper:scale=448 --delta 6 --n 256 --trials 30 --text
t sh -c 'pcast compare paper:scale=256 paper:scale=448 --delta 5,6 --n 256,300 --trials 5 --metric mse --dim 4 | cut -d, -f1-9'
t pcast compare
t pcast compare paper
t pcast compare paper paper paper
t pcast compare paper fa9
t pcast compare paper paper --trials 1
t pcast compare paper paper --metric bias
t pcast compare paper paper --level 1
t pcast compare paper paper --margin 0
t pcast compare paper paper --precision x
t pcast compare paper paper --sinks 500
t pcast compare paper paper:mask=causal --trials 2 --delta 1 -o x.csv
leftovers
# Outputs that are NaN: said, not compared.
t pcast compare 'paper:scale=600;overflow=nan' 'paper:scale=700;overflow=nan' --n 64 --trials 4 --delta 2 --text
t sh -c "pcast compare 'paper:scale=600;overflow=nan' paper --n 64 --trials 4 --delta 2 | tail -n 1 | cut -d, -f9-"
