#!/bin/sh
# bench.sh BUILD_DIR ARGS...: runs the benchmarks. bench/run.py decides what and how where it exists; else every
# *_bench of the build runs, one after another.
set -eu
build=$1
shift
if [ -e bench/run.py ]; then exec python3 bench/run.py --build "$build" "$@"; fi
found=0
for bench in "$build"/*_bench; do
  [ -x "$bench" ] || continue
  found=1
  "$bench" "$@"
done
[ "$found" = 1 ] || echo "bench: there is none yet"
