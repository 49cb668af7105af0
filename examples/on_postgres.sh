#!/bin/sh
# on_postgres.sh PROGRAM...: runs each on a Postgres server, in a temporary folder that is removed afterwards.
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -t/ -k5 -n | tail -n 1)
programs=$(realpath "$@")
folder=$(mktemp -d) && cd "$folder" || exit 1
# Postgres refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
  chown postgres "$folder"
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
trap '[ -z "$server" ] || { kill -INT $server; wait $server; }; cd /; rm -rf "$folder"' EXIT
$as "$bin/initdb" -D data -U ff -A trust -E UTF8 --locale=C --no-sync >init.log || { cat init.log; exit 1; }
# A port that is taken ends the server at once; then the next is tried.
for port in $(shuf -i 20000-29999 -n 20); do
  $as "$bin/postgres" -D data -k "$folder" -h 127.0.0.1 -p "$port" >log 2>&1 &
  server=$!
  for _ in $(seq 200); do
    kill -0 $server 2>/dev/null || break
    "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" && break 2
    sleep 0.05
  done
  kill $server 2>/dev/null
done
failed=0
for program in $programs; do
  name=$(basename "$program")
  FF_STORE="postgres://ff@127.0.0.1:$port/postgres?schema=$name" "$program" || { echo "$name failed"; failed=1; }
done
exit $failed
