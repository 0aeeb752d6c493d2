# SPDX-License-Identifier: MIT
# Making a golden suite: what the folder holds, which folders are refused, the same bytes again, what an option gets wrong.
t pcast golden
t pcast golden --help
t pcast golden bogus
t sh -c 'pcast golden make --help | head -n 1; pcast golden probes -h | head -n 1'
t sh -c 'pcast golden probes | head -n 1; pcast golden probes --dim 64 | grep ^head-map | cut -d, -f1,2,4-'
t pcast golden probes --dim 96
t pcast golden probes stray
t pcast golden make
t pcast golden make ''
t pcast golden make a b
t pcast golden make a --dim 32
t pcast golden make a --probe head-map,nothing
t pcast golden make a --probe ,
t pcast golden make a --kernel fa9
t pcast golden make a --kernel 'fa3:scale=0'
t pcast golden make a --unknown order
t pcast golden make a --kernel fa3 --unknown order,colour
t pcast golden make a --cpu fast
t pcast golden make none/a
leftovers

# One suite; made again, at another CPU level and in another folder: the same bytes.
small='--probe learned-sink --probe descale-heads,length-poison --dim 64 --kernel fa3:block=64 --unknown order,bias'
# shellcheck disable=SC2086
t pcast golden make a $small
# shellcheck disable=SC2086
t sh -c 'mkdir b; pcast golden make b "$@" --cpu scalar; pcast golden make a/ "$@"; diff -r a b && echo same' sh $small
t sh -c 'cd a; export LC_ALL=C; find . -type d | sort; find probes -type f | sort; ls | tr "\n" " "'
t sh -c 'sed -n "1,/\"id\"/p; /\"declaration\"/,\$p" a/manifest.json'
t sh -c 'grep -c "\"kernels\"" a/manifest.json; ls a/expected | wc -l; grep -h "\"\(o\|lse\)\": \"" a/manifest.json | wc -l'
t sh -c 'pcast diff a/probes/learned-sink/q.npy a/probes/learned-sink.safetensors:q | head -n 1'

# A suite with fewer probes and nothing declared takes its place.
t pcast golden make a --probe head-map
t sh -c 'grep "^      \"id\"\|\"kernel\"\|\"unknown\"\|\"dim\"" a/manifest.json'
# What was left by one that did not end may be written again.
rm a/manifest.json
t pcast golden make a --probe head-map

# Folders that are not ours stay as they are.
mkdir other json broken
echo text > other/notes
echo '{"schema": "something"}' > json/manifest.json
mkdir broken/manifest.json
echo text > file
t pcast golden make other
t pcast golden make json
t pcast golden make broken
t pcast golden make file
t sh -c 'ls other json broken; cat json/manifest.json'
leftovers
