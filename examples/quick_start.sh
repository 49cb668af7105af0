#!/usr/bin/env bash
# quick_start.sh FF DOCUMENT: runs the commands of docs/quick-start.md in their order, against a server at a port of its
# own in a temporary folder, and looks whether they end as the document says.
set -euo pipefail
ff=$(realpath "$1")
document=$(realpath "$2")
folder=$(mktemp -d)
cd "$folder"
for name in $(env | grep -o '^FF_[A-Z_]*' || true); do unset "$name"; done
"$ff" serve --listen 127.0.0.1:0 >ready 2>log &
server=$!
trap 'kill $server 2>/dev/null && wait $server; cd /; rm -rf "$folder"' EXIT
for _ in $(seq 600); do
  address=$(grep -o 'http://127.0.0.1:[0-9]*' ready | head -n 1) && break
  kill -0 $server || { cat log; exit 1; }
  sleep 0.05
done

blocks() { awk -v language="$1" '$0 == "```" { inside = 0 } inside { print } $0 == "```" language { inside = 1 }' "$document"; }
blocks python >worker.py
{ echo 'set -euo pipefail'; blocks sh | sed "s|^url=.*|url=$address|"; } >commands.sh
bash commands.sh | tee output

grep -q '{"ready":true,"reasons":\[\]}' output || { echo "it was not ready"; exit 1; }
grep -q '^completed$' output || { echo "it was not completed"; exit 1; }
grep -q '"greeting": "Hello, world!"' output || { echo "there is no result"; exit 1; }
grep -q "no live worker serves lane 'default'" output || { echo "it did not say why it waits"; exit 1; }
grep -q '"outcome": "success"' output || { echo "the history does not tell its end"; exit 1; }
