#!/usr/bin/env bash
# check.sh FF FOLDER: installs the tools of package-lock.json into FOLDER, starts a server and runs check.mjs against it.
set -euo pipefail
ff=$(realpath "$1")
source=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
cd "$2"
cp "$source"/{package.json,package-lock.json,.npmrc,check.mjs} .
# Installed once for a lock file: the mark holds its digest.
digest=$(sha256sum package-lock.json)
if [ ! -e installed ] || [ "$(cat installed)" != "$digest" ]; then
  rm -f installed
  npm ci --ignore-scripts --no-progress || { echo "the tools could not be installed from npm's registry"; exit 1; }
  echo "$digest" >installed
fi
store=$(mktemp -d)
for name in $(env | grep -o '^FF_[A-Z_]*' || true); do unset "$name"; done
"$ff" serve --store "sqlite:$store/flow.db" --listen 127.0.0.1:0 --log-level warn >"$store/out" 2>"$store/log" &
server=$!
trap 'kill $server 2>/dev/null && wait $server; rm -rf "$store"' EXIT
for _ in $(seq 600); do
  url=$(grep -o 'http://127.0.0.1:[0-9]*' "$store/out" | head -n 1) && break
  kill -0 $server 2>/dev/null || { cat "$store/log"; exit 1; }
  sleep 0.05
done
node check.mjs "$url" || { cat "$store/log"; exit 1; }
