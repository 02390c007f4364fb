#!/bin/sh
# setup.sh [build|bench|peers]...: installs what is missing to build and test violet (the default), to measure it, or to
# compare it with other servers, on Debian 12, as root or through sudo. Says nothing and changes nothing when everything
# is there.
set -eu

build_packages="
  clang-19 lld-19 llvm-19 libclang-rt-19-dev clang-format-19 clang-tidy-19
  g++ cmake ninja-build pkg-config ccache git python3
  libuv1-dev libssl-dev zlib1g-dev libdeflate-dev libbrotli-dev libzstd-dev
  nlohmann-json3-dev libre2-dev
  libgtest-dev libbenchmark-dev node-llhttp libnghttp2-dev nghttp2-client nghttp2-server python3-h2
  python3-websockets node-ws curl openssl brotli zstd
  valgrind strace"
# Node from elsewhere brings its own npm, which Debian's package does not get along with.
command -v npm >/dev/null || build_packages="$build_packages nodejs npm"
bench_packages="wrk linux-perf libsimdjson-dev"
peers_packages="nginx-light h2o haproxy caddy python3-matplotlib"

# Packages to be had from backports only. Without backports violet builds without what needs them.
backports_packages=""

apt_dir=/etc/apt
backports_file=$apt_dir/sources.list.d/violet-backports.sources

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# missing PACKAGE...: those that are not installed, on one line.
missing() {
  for package in "$@"; do
    is_installed "$package" || printf '%s ' "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# No service starts because its package was installed: RUNLEVEL=1 tells invoke-rc.d so.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"
}

# mirror CODENAME: "URI|keyring" of the source that this machine has for Debian CODENAME itself.
mirror() {
  {
    # The one-line format: deb [options] URI suite components
    for file in "$apt_dir"/sources.list "$apt_dir"/sources.list.d/*.list; do
      [ -r "$file" ] || continue
      awk -v suite="$1" '
        $1 == "deb" {
          key = ""
          if (match($0, /signed-by=[^] ]+/)) key = substr($0, RSTART + 10, RLENGTH - 10)
          sub(/\[[^]]*\]/, "")
          if ($3 == suite) print $2 "|" key
        }' "$file"
    done
    # The deb822 format: paragraphs of fields.
    for file in "$apt_dir"/sources.list.d/*.sources; do
      [ -r "$file" ] && [ "$file" != "$backports_file" ] || continue
      awk -v suite="$1" '
        function flush(    n, i, names) {
          n = split(suites, names, /[ \t]+/)
          for (i = 1; i <= n; i++) if (names[i] == suite && uri != "" && enabled != "no") print uri "|" key
          suites = uri = key = enabled = ""
        }
        /^[ \t]*$/ { flush(); next }
        /^#/ { next }
        { name = tolower($1) }
        name == "suites:" { sub(/^[^:]*:[ \t]*/, ""); suites = $0 }
        name == "uris:" { uri = $2 }
        name == "signed-by:" { key = $2 }
        name == "enabled:" { enabled = tolower($2) }
        END { flush() }' "$file"
    done
  } | head -n 1
}

# Adds the backports of this release from the same mirror. False where that cannot be done.
add_backports() {
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  source=$(mirror "$codename")
  if [ -z "$source" ]; then
    echo "setup: no apt source for '$codename' found, so none for its backports either"
    return 1
  fi
  echo "setup: adding $codename-backports to $backports_file"
  {
    printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\n' "${source%%|*}" "$codename"
    if [ -n "${source#*|}" ]; then printf 'Signed-By: %s\n' "${source#*|}"; fi
  } | as_root tee "$backports_file" >/dev/null
  # Only this source is asked, so that a fault of another does not count against it.
  apt_get update -o Dir::Etc::sourcelist="$backports_file" -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any
}

wanted=""
backports=""
for set in "${@:-build}"; do
  case $set in
    build) wanted="$wanted $build_packages" backports="$backports_packages" ;;
    bench) wanted="$wanted $bench_packages" ;;
    peers) wanted="$wanted $peers_packages" ;;
    *) echo "usage: setup.sh [build|bench|peers]..." >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; install by hand what stands in for:" $wanted >&2
  exit 0
fi
# shellcheck disable=SC2086 # the lists are meant to be split
needed=$(missing $wanted)
# shellcheck disable=SC2086
needed_backports=$(missing $backports)
[ -n "$needed$needed_backports" ] || exit 0

echo "setup: to be installed: $needed$needed_backports"
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
  echo "setup: neither root nor sudo; as root run: apt-get install $needed$needed_backports" >&2
  if [ -n "$needed" ]; then exit 1; else exit 0; fi
fi
if [ -n "$needed" ]; then
  apt_get update
  # shellcheck disable=SC2086
  apt_get install --no-install-recommends $needed
fi
if [ -n "$needed_backports" ]; then
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  # shellcheck disable=SC2086
  if ! add_backports || ! apt_get install --no-install-recommends -t "$codename-backports" $needed_backports; then
    as_root rm -f "$backports_file"
    echo "setup: going on without $needed_backports"
  fi
fi
echo "setup: done"
