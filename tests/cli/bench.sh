# SPDX-License-Identifier: MIT
# Which measurements there are, in which columns; what they measure is the machine's.
t sh -c "pcast bench --quick --repeats 1 --cpu scalar -o bench.csv"
t sh -c "head -1 bench.csv; tail -n +2 bench.csv | awk -F, '\$5 == 1 {print \$1 \",\" \$2 \",\" \$3 \",\" \$5 \",\" \$6 \",\" \$7 \",\" \$10}'"
t awk -F, 'NR > 1 && !(NF == 12 && $8 > 0 && $9 >= $8 && $11 > 0 && $12 > 0) || NR > 4 && $4 != "scalar" && $2 !~ /one by one/' bench.csv
t sh -c "pcast bench --quick --repeats 1 --cpu native row --text | awk '{print \$1}' | uniq -c"
t sh -c "pcast bench --quick --repeats 1 --cpu scalar row --floats . > /dev/null; wc -c *.f32"
t pcast bench sprint
t pcast bench --cpu fast
t pcast bench --cpu
t pcast bench --repeats 0
t pcast bench --repeats 100
t pcast bench row -o no/where.csv
t pcast bench --quick --repeats 1 row --cpu scalar --floats no/where
t pcast bench --help
rm -f *.f32
leftovers
