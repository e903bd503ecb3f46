#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Agreement with others: NCCOs and tokens against Vonage's own Python packages and PyJWT, forged tokens against us, the simulated Vonage against
# Vonage's clients, the JSON Schemas against a validator that is not ours, and the server against its OpenAPI description.
#
#   Tests/Interop/run.sh [--binary FILE] [TEST…]
#
# A TEST is as for unittest, such as test_schema. Needs python3 with venv, and PyPI at the first run: the packages are kept under .build, by
# their list, and nothing else uses the network. The last lines are unittest's; exit code 1 where a test failed.
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
    -*)
        echo "$1: no such flag; the flag is --binary FILE" >&2
        exit 64
        ;;
    *)
        tests+=("$1")
        shift
        ;;
    esac
done

if [ -z "$binary" ]; then
    cd "$root"
    swift build -c release --static-swift-stdlib --product switchboard
    binary="$(swift build -c release --show-bin-path)/switchboard"
fi
[ -x "$binary" ] || { echo "$binary cannot be run: build it with swift build -c release, or name another with --binary" >&2; exit 64; }

key=$({ python3 --version; cat "$here/requirements.txt"; } | sha256sum | cut -c1-16)
packages="$root/.build/interop/$key"
if [ ! -e "$packages/complete" ]; then
    rm -rf "$packages"
    python3 -m venv "$packages"
    "$packages/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/requirements.txt"
    "$packages/bin/pip" check
    touch "$packages/complete"
fi

cd "$here"
export SWITCHBOARD=$binary PYTHONDONTWRITEBYTECODE=1
# Pydantic's warnings and those of unittest are for us: what is deprecated there breaks here one day.
if [ ${#tests[@]} -gt 0 ]; then
    exec "$packages/bin/python" -W error::DeprecationWarning -m unittest "${tests[@]}"
fi
exec "$packages/bin/python" -W error::DeprecationWarning -m unittest discover --top-level-directory . --pattern 'test_*.py'
