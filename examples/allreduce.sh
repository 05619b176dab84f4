#!/bin/sh
# An all-reduce over TCP: how long two processes on each host take to add up 1,000,000 B around a ring, with Gloo.
#     lossylink virtual --link 100Gbps --loss 1e-3 -p none -p lg examples/allreduce.sh [OPERATIONS]
# Debian packages: libgloo-dev and g++.
set -e
source=$(dirname "$0")/allreduce.cpp
work=/run/allreduce
mkdir -p "$work/store"
g++ -O2 -o "$work/allreduce" "$source" -lgloo -lpthread
rank=0 ranks=
for host in h4 h4 h8 h8; do
    "$host" "$work/allreduce" "$work/store" "$rank" 4 "${1:-100}" &
    ranks="$ranks $!"
    rank=$((rank + 1))
done
for process in $ranks; do
    wait "$process"
done
