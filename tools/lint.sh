#!/bin/sh
# lint.sh BUILD_DIR: fails on what is not formatted, on what breaks the shape of the tree and on what clang-tidy finds.
# BUILD_DIR holds the compile_commands.json. lint.sh --fix writes the format instead.
set -eu
cd "$(dirname "$0")/.."

sources() {
  git ls-files -z --cached --others --exclude-standard -- \
    'src/*.cc' 'src/*.h' 'tests/*.cc' 'tests/*.h' 'apps/*.cc' 'apps/*.h' 'examples/*.cc' 'examples/*.h' \
    'fuzz/*.cc' 'fuzz/*.h' 'bench/*.cc' 'bench/*.h'
}

if [ "$1" = --fix ]; then
  sources | xargs -0 clang-format-19 -i
  exit
fi

failed=0
echo "lint: clang-format"
sources | xargs -0 clang-format-19 --dry-run -Werror || failed=1
echo "lint: tidy.py"
python3 tools/tidy.py || failed=1
echo "lint: clang-tidy"
report=$1/clang-tidy.txt
if ! run-clang-tidy-19 -clang-tidy-binary clang-tidy-19 -p "$1" -j "${JOBS:-2}" -quiet \
  "$PWD/src/violet/.*\.cc\$" >"$report" 2>&1; then
  grep -E -A 6 ': (warning|error): ' "$report" || cat "$report"
  failed=1
fi
if [ "$failed" = 0 ]; then echo "lint: clean"; fi
exit "$failed"
