#!/bin/sh
# An all-reduce over TCP: how long two processes on each host take to add up 1,000,000 B around a ring, with Gloo.
#     g++ -O2 -o allreduce examples/allreduce.cpp -lgloo -lpthread
#     lossylink virtual --link 100Gbps --loss 1e-3 -p none -p lg examples/allreduce.sh [OPERATIONS]
# The machine compiles, since a guest is slow at that. Debian packages: libgloo-dev and g++.
set -e
program=$PWD/allreduce store=/run/allreduce
if [ ! -x "$program" ]; then
    echo "error: no $program; run g++ -O2 -o allreduce $(dirname "$0")/allreduce.cpp -lgloo -lpthread" >&2
    exit 1
fi
mkdir -p "$store"
rank=0 ranks=
for host in h4 h4 h8 h8; do
    "$host" "$program" "$store" "$rank" 4 "${1:-100}" &
    ranks="$ranks $!"
    rank=$((rank + 1))
done
for process in $ranks; do
    wait "$process"
done
