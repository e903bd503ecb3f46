#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The page at `/` in a real browser, against a real server: what people do there, what must not happen, and whether everybody can use it.
#
#   Tests/Browser/run.sh [--binary FILE] [--screenshots DIR] [TEST…]
#
# A TEST is as for unittest, such as test_calls. Needs Debian's packages chromium and chromium-driver, python3 with venv, and PyPI at the
# first run: the packages are kept under .build, by their list, and nothing else uses the network. With --screenshots the main states are kept
# as pictures. The last lines are unittest's; exit code 1 where a test failed.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$here/../..")
binary=
tests=()
while [ $# -gt 0 ]; do
    case $1 in
    --binary)
        [ $# -gt 1 ] || { echo "--binary needs a file" >&2; exit 64; }
        binary=$(realpath "$2")
        shift 2
        ;;
    --screenshots)
        [ $# -gt 1 ] || { echo "--screenshots needs a folder" >&2; exit 64; }
        mkdir -p "$2"
        SCREENSHOTS=$(realpath "$2")
        export SCREENSHOTS
        shift 2
        ;;
    -*)
        echo "$1: no such flag; the flags are --binary FILE and --screenshots DIR" >&2
        exit 64
        ;;
    *)
        tests+=("$1")
        shift
        ;;
    esac
done

for needed in chromium chromedriver; do
    command -v "$needed" >/dev/null || { echo "$needed is not here: apt-get install chromium chromium-driver" >&2; exit 64; }
done
if [ -z "$binary" ]; then
    cd "$root"
    swift build -c release --static-swift-stdlib --product switchboard
    binary="$(swift build -c release --show-bin-path)/switchboard"
fi
[ -x "$binary" ] || { echo "$binary cannot be run: build it with swift build -c release, or name another with --binary" >&2; exit 64; }

key=$({ python3 --version; cat "$here/requirements.txt"; } | sha256sum | cut -c1-16)
packages="$root/.build/browser/$key"
if [ ! -e "$packages/complete" ]; then
    rm -rf "$packages"
    python3 -m venv "$packages"
    "$packages/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/requirements.txt"
    "$packages/bin/pip" check
    touch "$packages/complete"
fi

cd "$here"
export SWITCHBOARD=$binary PYTHONDONTWRITEBYTECODE=1
if [ ${#tests[@]} -gt 0 ]; then
    exec "$packages/bin/python" -m unittest "${tests[@]}"
fi
exec "$packages/bin/python" -m unittest discover --top-level-directory . --pattern 'test_*.py'
