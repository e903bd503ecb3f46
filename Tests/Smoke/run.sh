#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The README's examples against a real binary: each command line that it shows with its output, and whether that is what it prints. Prints one
# line a check and a last line with the counts.
set -euo pipefail
binary=$(realpath "$1")
readme=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../README.md")
work=$(mktemp -d)
port=$((20000 + RANDOM % 20000))
passed=0
failed=0
server=
simulator=

finish() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    [ -z "$simulator" ] || kill -9 "$simulator" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
# As in a checkout with the binary on the path.
ln -s "$(dirname "$readme")/nccos" nccos
mkdir bin
ln -s "$binary" bin/switchboard
PATH="$work/bin:$PATH"

check() { # name, expected, found
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "passed: $1"
    else
        failed=$((failed + 1))
        printf 'failed: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
    fi
}

"$binary" serve --port "$port" --number 14155550100 >start.log 2>&1 &
server=$!
for _ in $(seq 100); do
    curl -sf "localhost:$port/health" >/dev/null 2>&1 && break
    read -rt 0.05 <> <(:) || true # a pause without a process
done

"$binary" simulate --port 0 --state vonage.json >simulate.log 2>&1 &
simulator=$!
for _ in $(seq 200); do
    grep -q VONAGE_PRIVATE_KEY simulate.log && break
    read -rt 0.05 <> <(:) || true
done
settings=$(sed -n 's/^  \(VONAGE_[A-Z_]*=.*\)/export \1/p' simulate.log)
simulated=$(sed -n 's/^  VONAGE_API_URL=http:\/\///p' simulate.log)

# Ids are new each time.
uuid='[0-9a-f]\{8\}-[0-9a-f]\{4\}-[0-9a-f]\{4\}-[0-9a-f]\{4\}-[0-9a-f]\{12\}'

# Without a terminal curl would show its progress.
curl() { command curl -sS "$@"; }
export -f curl

# A line of a block that begins with `$ ` is a command, and what follows up to the next command or the block's end is its output.
number=0
while IFS= read -r -d '' example; do
    number=$((number + 1))
    command=$(head -n 1 <<<"$example")
    expected=$(tail -n +2 <<<"$example" | sed '/^[[:space:]]*$/d')
    run=${command//localhost:3000/localhost:$port}
    # Examples that ask the simulator have its settings, as the page says; the others have none.
    [[ $run != *localhost:3001* ]] || run="$settings"$'\n'"${run//localhost:3001/$simulated}"
    found=$({ bash -c "$run" 2>&1 || true; } | tr -d '\r' | sed -e '/^[[:space:]]*$/d' -e 's/^Date: .*/Date: …/')
    # How long an answer took is another time each time.
    [[ $command != *"switchboard call"* ]] || found=$(sed -E -e "s/localhost:$port/localhost:3000/g" -e 's/\([0-9.]+ ms\)/(… ms)/' -e 's/slowest [0-9.]+ ms/slowest … ms/g' <<<"$found")
    [[ $command != *localhost:3001* ]] || found=$(sed -e "s/$uuid/…/g" -e "s/$simulated/localhost:3001/g" <<<"$found")
    check "README example $number: ${command:0:90}" "$expected" "$found"
done < <(awk '/^```/ { inside = !inside; if (!inside && text != "") { printf "%s%c", text, 0; text = "" } next }
    inside && /^\$ / { if (text != "") printf "%s%c", text, 0; text = substr($0, 3) "\n"; next }
    inside && text != "" { text = text $0 "\n" }' "$readme")
[ "$number" -gt 3 ] || check "the README has examples" "more than 3" "$number"

check "health, by the binary itself" '{"status":"ok"}' "$("$binary" health --url "http://localhost:$port")"
check "the log has a line for the event" 1 "$(grep -c '"kind":"event","call":"CON-1",.*"status":"ringing"' events/events.jsonl)"
"$binary" call --url "http://localhost:$port" --rate 100/s --for 1s >load.log 2>&1 && code=0 || code=$?
check "a load of whole calls ends well" "0 100 calls" "$code $(grep -o '^100 calls' load.log)"
"$binary" serve --port "$port" --events other >second.log 2>&1 && code=0 || code=$?
check "a port in use ends with 69" 69 "$code"
"$binary" serve --port 0 >second.log 2>&1 && code=0 || code=$?
check "an event folder in use ends with 73" 73 "$code"
"$binary" serve --prot 1 >second.log 2>&1 && code=0 || code=$?
check "an unknown flag ends with 64" '64 switchboard serve: "--prot": no such flag; did you mean --port?' "$code $(cat second.log)"
kill -TERM "$server"
wait "$server" && code=0 || code=$?
server=
check "SIGTERM ends with 0" 0 "$code"
"$binary" health --url "http://localhost:$port" >/dev/null 2>&1 && code=0 || code=$?
check "health of no server ends with 1" 1 "$code"

kill -TERM "$simulator"
wait "$simulator" && code=0 || code=$?
simulator=
check "SIGTERM ends the simulator with 0, and what was made is kept" '0 1' "$code $(grep -c '"name":"Alice"' vonage.json)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
