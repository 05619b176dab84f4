#!/bin/sh
# An all-reduce between two hosts: how long it takes two processes on each of them to add up 1,000,000 B around a ring.
#     lossylink virtual --link 100Gbps --loss 1e-3 -p none -p lg examples/allreduce.sh [OPERATIONS]
# Debian packages: libgloo-dev and g++.
set -e
source=$(dirname "$0")/allreduce.cpp
work=/run/allreduce
mkdir -p "$work/store"
g++ -O2 -o "$work/allreduce" "$source" -lgloo -lpthread
rank=0
for host in h4 h4 h8 h8; do
    "$host" "$work/allreduce" "$work/store" "$rank" 4 "${1:-200}" &
    ranks="$ranks $!"
    rank=$((rank + 1))
done
for process in $ranks; do
    wait "$process"
done
