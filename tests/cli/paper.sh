# SPDX-License-Identifier: MIT
# The paper's claims: one that draws nothing, a quick one in each format, figures, and mistakes.
t sh -c 'pcast paper --claim G 2> /dev/null'
t sh -c 'pcast paper --quick --claim F,H --format csv 2> /dev/null | cut -d, -f1-9'
t sh -c 'pcast paper --quick --claim F,g --format markdown 2> /dev/null | cut -d"|" -f2,3'
t sh -c 'pcast paper --quick --claim F 2>&1 > /dev/null | sed "s/[0-9][0-9]*/N/"'
t pcast paper --claim I
t pcast paper --claim AB
t pcast paper --format html
t pcast paper --threads 0
t pcast paper stray
t sh -c 'pcast paper --quick --claim G -o missing/x 2>&1'
t sh -c 'pcast paper --quick --claim G --figures missing/x -o x.txt 2>&1 | grep -v seconds'
leftovers
