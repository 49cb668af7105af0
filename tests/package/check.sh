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
block() {
  awk -v fence="\`\`\`$1" '
    $0 == fence && !done { on = 1; next }
    $0 == "```" && on { on = 0; done = 1 }
    on' "$FF_SOURCE/README.md"
}
cp -r "$FF_SOURCE/tests/package/consumer" "$folder/consumer"
block cpp >"$folder/consumer/first.cc"
block text >"$folder/expected"
[ -s "$folder/consumer/first.cc" ] && [ -s "$folder/expected" ] ||
  { echo "the README has no program or no output"; exit 1; }

run() { # run NAME PROGRAM: in a folder of its own, so that it makes its store anew; the second time it finds its store
  mkdir "$folder/run-$1"
  cd "$folder/run-$1"
  for _ in 1 2; do
    "$2" >out
    diff "$folder/expected" out || { echo "$1: the program printed something else than the README says"; exit 1; }
  done
}

cmake -G Ninja -S "$folder/consumer" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_FLAGS="${flags[*]}" >"$folder/log" ||
  { cat "$folder/log"; exit 1; }
cmake --build "$folder/cmake" >"$folder/log" || { cat "$folder/log"; exit 1; }
run find_package "$folder/cmake/first"

pc=$(dirname "$(find "$prefix" -name flowfabric.pc)")
export PKG_CONFIG_PATH=$pc
# shellcheck disable=SC2046 # the words of pkg-config are words
"$CXX" -std=c++23 "${flags[@]}" "$folder/consumer/first.cc" -o "$folder/first" $(pkg-config --cflags --libs flowfabric)
run pkg_config "$folder/first"

# The guide is one program, too: blocks that include or declare stand before main, the others in it, in their order.
awk -v begin='```cpp' '
  $0 == begin { on = 1; first = 1; next }
  $0 == "```" && on { on = 0 }
  on && first { outside = /^(#include|struct )/; first = 0 }
  on { if (outside) declared = declared $0 "\n"; else body = body "  " $0 "\n" }
  END { printf "%s\nint main() {\n%s}\n", declared, body }' "$FF_SOURCE/docs/library.md" >"$folder/guide.cc"
# shellcheck disable=SC2046
"$CXX" -std=c++23 "${flags[@]}" "$folder/guide.cc" -o "$folder/guide" $(pkg-config --cflags --libs flowfabric)
mkdir "$folder/run-guide"
cd "$folder/run-guide"
"$folder/guide" >out 2>err || { echo "the guide's program failed"; cat out err; exit 1; }
for line in 'callback: 1' 'no such execution' 'attempt 0: the mail server is busy' 'attempt 1: fine' 'small-cat.png' \
  'It ended as completed' 'Its creator delayed it'; do
  grep -q -- "$line" out || { echo "the guide's program did not print '$line'"; cat out err; exit 1; }
done

version=$("$prefix/bin/ff" version)
[ "$version" = "ff $(pkg-config --modversion flowfabric)" ] || { echo "ff says '$version'"; exit 1; }
echo "installed, found twice, ran twice"
