#!/bin/sh
# run.sh PROGRAM [redis]: runs it in a temporary folder, which is removed afterwards; with `redis` on a server of its own.
program=$(realpath "$1")
folder=$(mktemp -d) && cd "$folder" || exit 1
unset FF_STORE
if [ "$2" = redis ]; then
  # A port that is taken ends the server at once; then the next is tried.
  for port in $(shuf -i 20000-29999 -n 20); do
    redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly yes --dir "$folder" --logfile log &
    server=$!
    for _ in $(seq 100); do
      kill -0 $server 2>/dev/null || break
      grep -q 'Ready to accept' log 2>/dev/null && break 2
      sleep 0.05
    done
    kill $server 2>/dev/null
    rm -f log
  done
  export FF_STORE="redis://127.0.0.1:$port"
fi
"$program"
code=$?
if [ -n "$server" ]; then
  kill $server
  wait $server
fi
rm -rf "$folder"
exit "$code"
