#!/bin/sh
# A web server between two hosts: how long it takes to fetch 100,000 B, four clients at a time.
#     lossylink virtual --link 100Gbps --loss 1e-3 -p none -p lg examples/web.sh [REQUESTS]
# Debian packages: nginx-light, and apache2-utils with the client.
set -e
web=/run/web
mkdir -p "$web"
head -c 100000 /dev/zero > "$web/page"
cat > "$web/nginx.conf" <<CONFIGURATION
daemon off;
master_process off;
pid $web/pid;
events {}
http {
    access_log off;
    server { listen 10.2.2.2:80; root $web; }
}
CONFIGURATION
h8 nginx -p "$web" -c "$web/nginx.conf" -e "$web/errors" &
sleep 1
h4 ab -q -k -n "${1:-2000}" -c 4 -e "$web/percentiles" http://h8/page | grep -E '^(Complete|Failed|Requests per)'
# Per cent of the requests, and within how many milliseconds.
grep -E '^(50|99|99.9|100),' "$web/percentiles" || tail -n 1 "$web/percentiles"
h8 nginx -p "$web" -c "$web/nginx.conf" -e "$web/errors" -s stop 2> /dev/null
wait
