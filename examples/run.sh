#!/bin/sh
# run.sh PROGRAM: runs it in a temporary folder, which is removed afterwards.
program=$(realpath "$1")
folder=$(mktemp -d) && cd "$folder" || exit 1
"$program"
code=$?
rm -rf "$folder"
exit "$code"
