#!/bin/sh
# fuzz.sh BUILD_DIR SECONDS [NAME...]: runs each fuzz target (or those named) for so long, in turn, and stops at the
# first finding. Inputs that reach new code go to BUILD_DIR/corpus/NAME; what deserves to stay is merged from there
# into fuzz/corpus/NAME (docs/hacking.md). A finding lies in BUILD_DIR/findings/.
set -eu
PATH=$PATH:/usr/lib/llvm-19/bin  # llvm-symbolizer
build=$1 seconds=$2
shift 2
if [ $# = 0 ]; then
  for source in fuzz/*_fuzz.cc; do
    [ -e "$source" ] || { echo "fuzz: no target exists"; exit 0; }
    name=$(basename "$source" _fuzz.cc)
    set -- "$@" "$name"
  done
fi
mkdir -p "$build/findings"
for name in "$@"; do
  mkdir -p "$build/corpus/$name"
  set -- "$build/corpus/$name"
  if [ -d "fuzz/corpus/$name" ]; then set -- "$@" "fuzz/corpus/$name"; fi
  if [ -e "fuzz/$name.dict" ]; then set -- "$@" "-dict=fuzz/$name.dict"; fi
  echo "fuzz: $name for $seconds s"
  log=$build/findings/$name.log
  if ! "$build/${name}_fuzz" "$@" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" >"$log" 2>&1; then
    cat "$log"
    echo "fuzz: $name: a finding; its input is the newest $build/findings/$name-*" >&2
    exit 1
  fi
  grep -E '^(stat::number_of_executed_units|stat::average_exec_per_sec|stat::new_units_added)' "$log"
  rm -f "$log"
done
echo "fuzz: no finding"
