#!/bin/sh
# A key-value store between two hosts: how long it takes to store 4,000 B, ten clients at a time.
#     lossylink virtual --link 100Gbps --loss 1e-3 -p none -p lg examples/store.sh [REQUESTS]
# Debian packages: redis-server and, with the client, redis-tools.
set -e
h8 redis-server --bind 10.2.2.2 --protected-mode no --save '' --dir /run > /run/store.log &
sleep 1
h4 redis-benchmark -h h8 -n "${1:-20000}" -c 10 -d 4000 -t set --csv
h4 redis-cli -h h8 shutdown nosave || true
wait
