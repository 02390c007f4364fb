#!/bin/sh
# run.sh CMAKE BUILD_DIR WORK_DIR CXX: installs violet and builds a user's hello against it, in two ways.
set -eu
cmake=$1 build=$2 work=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
expected="not found"

check() {
  if [ "$2" != "$expected" ]; then
    echo "$1: expected '$expected', got '$2'" >&2
    exit 1
  fi
  echo "$1: $2"
}

rm -rf "$work/prefix" "$work/moved" "$work/cmake" "$work/pkg-config"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
# An installed tree can be moved; a path of the build machine in it would be found out here.
mv "$work/prefix" "$work/moved"
if grep -rlF -e "$build" -e "$work" "$work/moved" --include='*.cmake' --include='*.pc'; then
  echo "these files name a path of the build machine" >&2
  exit 1
fi

"$cmake" -S "$here/project" -B "$work/cmake" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_BUILD_TYPE=Release
"$cmake" --build "$work/cmake"
check find_package "$("$work/cmake/hello")"

pc=$(find "$work/moved" -name violet.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
mkdir "$work/pkg-config"
# shellcheck disable=SC2046 # the flags are meant to be split
"$cxx" -std=c++23 $(pkg-config --cflags violet) "$here/project/hello.cc" -o "$work/pkg-config/hello" \
  $(pkg-config --libs violet)
check pkg-config "$("$work/pkg-config/hello")"
