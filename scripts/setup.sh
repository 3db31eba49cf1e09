#!/bin/sh
# Sets up .venv for `make demo`, `make test` or `make lint`:
#   sh scripts/setup.sh demo|test|lint
# Needs Python 3.11 or newer. On Debian and Ubuntu what is missing is installed with apt-get, as root or through sudo:
# python3-venv, and for demo and test the software Vulkan driver where no GPU is found. A second run does nothing.
set -eu
cd "$(dirname "$0")/.."
goal=${1:-demo}
log=.make/setup.log
mkdir -p .make
: >"$log"

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

quietly() { # MESSAGE COMMAND...: one line when it fails, the rest in the log
    message=$1
    shift
    "$@" >>"$log" 2>&1 || { tail -n 3 "$log" >&2; fail "$message (the whole output is in $log)"; }
}

has_apt() { command -v apt-get >/dev/null 2>&1; }

apt_install() { # PACKAGE...: false where they cannot be installed
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || return 1
        as_root=sudo
    fi
    say "installing $*"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >>"$log" 2>&1 || true
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1
}

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

make_venv() {
    rm -rf .venv
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        { has_apt && { apt_install "$version-venv" || apt_install python3-venv; }; } ||
            fail "the module venv is missing; install the package python3-venv (this needs root or sudo), then try again"
    fi
    say "making .venv with $("$python" --version)"
    quietly ".venv could not be made" "$python" -m venv .venv
    quietly "pip could not be updated; is the package index reachable?" .venv/bin/python -m pip install -q --upgrade pip
}

# The tests and the demo run on any adapter; the software driver is what a machine without a GPU gets.
has_adapter() { .venv/bin/python scripts/find_adapter.py >>"$log" 2>&1; }

find_driver() {
    has_adapter && return
    if has_apt && apt_install libvulkan1 mesa-vulkan-drivers && has_adapter; then
        return
    fi
    say "no GPU and no software Vulkan driver were found (install mesa-vulkan-drivers or your distribution's lavapipe)" \
        "- going on with the CPU"
}

python=$(find_python)
if [ -z "$python" ]; then
    found=$(python3 --version 2>/dev/null) || found="no python3"
    fail "Python 3.11 or newer is needed; here is $found"
fi

stamp=".venv/.setup-$goal"
if [ -e "$stamp" ] && [ -z "$(find pyproject.toml scripts/setup.sh -newer "$stamp")" ]; then
    exit 0
fi
.venv/bin/python -m pip --version >/dev/null 2>&1 || make_venv

case $goal in
demo) set -- -e '.[llm,image]' ;;
test) set -- -e '.[llm,image]' --group test ;;
lint) set -- -e '.[llm,image]' --group lint --group test ;;
*) fail "usage: sh scripts/setup.sh demo|test|lint" ;;
esac
say "installing the package for '$goal'"
quietly "the package could not be installed; is the package index reachable?" .venv/bin/python -m pip install -q "$@"
if [ "$goal" != lint ]; then
    find_driver
fi
touch "$stamp"
