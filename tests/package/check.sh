#!/usr/bin/env bash
# The package as a stranger meets it: installed, found by CMake and by pkg-config, with the program from the README.
set -euo pipefail
: "${FF_BUILD:?}" "${FF_SOURCE:?}" "${CXX:=c++}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=()
[ -z "${FF_SANITIZE:-}" ] || flags=("-fsanitize=$FF_SANITIZE")

cmake --install "$FF_BUILD" --prefix "$folder/original" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
# An installed tree may be moved: nothing in it names the prefix or the source.
mv "$folder/original" "$folder/prefix"
prefix=$folder/prefix
if grep -rIl -e "$folder/original" -e "$FF_SOURCE" "$prefix"; then
  echo "these installed files name folders of the build"
  exit 1
fi
for file in bin/ff include/flowfabric/flowfabric.h share/doc/flowfabric/LICENSE share/doc/flowfabric/README.md; do
  [ -e "$prefix/$file" ] || { echo "$file was not installed"; exit 1; }
done

# The first C++ block of the README is the program; the first text block after it is what it prints.
block() { awk -v fence="\`\`\`$1" '$0 == fence && !done { on = 1; next } $0 == "```" && on { on = 0; done = 1 } on' "$FF_SOURCE/README.md"; }
cp -r "$FF_SOURCE/tests/package/consumer" "$folder/consumer"
block cpp >"$folder/consumer/first.cc"
block text >"$folder/expected"
[ -s "$folder/consumer/first.cc" ] && [ -s "$folder/expected" ] || { echo "the README has no program or no output"; exit 1; }

run() { # run NAME PROGRAM: in a folder of its own, so that it makes its store anew; the second time it finds its store
  mkdir "$folder/run-$1"
  cd "$folder/run-$1"
  for _ in 1 2; do
    "$2" >out
    diff "$folder/expected" out || { echo "$1: the program printed something else than the README says"; exit 1; }
  done
}

cmake -S "$folder/consumer" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="${flags[*]}" >"$folder/log" ||
  { cat "$folder/log"; exit 1; }
cmake --build "$folder/cmake" >"$folder/log" || { cat "$folder/log"; exit 1; }
run find_package "$folder/cmake/first"

pc=$(dirname "$(find "$prefix" -name flowfabric.pc)")
export PKG_CONFIG_PATH=$pc
# shellcheck disable=SC2046 # the words of pkg-config are words
"$CXX" -std=c++23 "${flags[@]}" "$folder/consumer/first.cc" -o "$folder/first" $(pkg-config --cflags --libs flowfabric)
run pkg_config "$folder/first"

version=$("$prefix/bin/ff" version)
[ "$version" = "ff $(pkg-config --modversion flowfabric)" ] || { echo "ff says '$version'"; exit 1; }
echo "installed, found twice, ran twice"
