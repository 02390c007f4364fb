#!/bin/sh
# run.sh PROGRAM ARGS...: runs a program in the foreground.
#
# At a terminal the program gets a process group of its own, so that Ctrl-C reaches it alone: make, which would die of
# the signal, waits for the program to drain and reports its exit status. Elsewhere it simply replaces this shell.
set -eu
if [ ! -x "$1" ]; then
  echo "$1 does not exist" >&2
  exit 1
fi
if [ -t 0 ]; then
  set -m
  # Whoever ends make by another signal ends the program too.
  if command -v setpriv >/dev/null; then set -- setpriv --pdeathsig TERM "$@"; fi
  "$@"
else
  exec "$@"
fi
