#!/usr/bin/env bash
# Installs what the tests need beside Go: a C compiler for the race detector and PostgreSQL's programs (Debian's, need
# root), and the MCP clients of test/clients with a Node that is new enough for them (npm's, needs nothing). It says what
# it will do before it does it, does nothing twice, and downloads nothing but packages of these two kinds.
#
# The tests start a PostgreSQL of their own, in a temporary folder. Debian's package makes one and starts it; where the
# package is installed here, it is told not to.
#
#   deps.sh               install what is missing, say so when nothing is
#   deps.sh --if-missing  the same, and silent when nothing is missing
set -euo pipefail
cd "$(dirname "$0")/.."

quiet=
case "${1:-}" in
  '') ;;
  --if-missing) quiet=1 ;;
  *) echo "deps.sh: unknown argument $1; it takes --if-missing or nothing" >&2; exit 2 ;;
esac

clients=test/clients
stamp=$clients/node_modules/.wayleave-lock

# Each row: a command that the tests call, the Debian package that has it. Debian keeps initdb out of PATH.
debian_rows=(
  "cc gcc"
  "initdb postgresql"
)

present() {
  command -v "$1" >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null
}

missing_debian() {
  local row
  for row in "${debian_rows[@]}"; do
    present "${row%% *}" || echo "${row#* }"
  done
}

# Debian's package reads this file before it makes a cluster. A file that is there is somebody's, and stays.
no_cluster=/etc/postgresql-common/createcluster.conf

# The clients are as the lock file says when the copy of it that was left beside them is the same.
clients_missing() {
  ! cmp -s "$clients/package-lock.json" "$stamp"
}

install_debian() {
  local sudo=
  if ! command -v apt-get >/dev/null; then
    echo "deps.sh: no apt-get here; install these by hand, then run it again: $*" >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
  fi
  case " $* " in
    *" postgresql "*)
      if [ ! -e "$no_cluster" ]; then
        $sudo mkdir -p "$(dirname "$no_cluster")"
        echo 'create_main_cluster = false' | $sudo tee "$no_cluster" >/dev/null
      fi ;;
  esac
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get install -y -qq --no-install-recommends "$@"
}

install_clients() {
  if ! command -v npm >/dev/null; then
    echo "deps.sh: no npm here; install Node.js with npm (any version from 20), then run it again" >&2
    exit 1
  fi
  # The warnings are about the Node that runs npm; the clients run under the packaged one.
  (cd "$clients" && npm ci --loglevel=error --no-progress)
  cp "$clients/package-lock.json" "$stamp"
}

mapfile -t packages < <(missing_debian)
need_clients=
if clients_missing; then
  need_clients=1
fi

if [ ${#packages[@]} -eq 0 ] && [ -z "$need_clients" ]; then
  [ -n "$quiet" ] || echo "deps: nothing is missing"
  exit 0
fi

echo "deps: this will be done:"
[ ${#packages[@]} -eq 0 ] || echo "  apt-get install ${packages[*]}   (as root; no PostgreSQL server is started)"
[ -z "$need_clients" ] || echo "  npm ci in $clients               (about 800 MB, in that folder and npm's cache only)"

[ ${#packages[@]} -eq 0 ] || install_debian "${packages[@]}"
[ -z "$need_clients" ] || install_clients
echo "deps: done"
