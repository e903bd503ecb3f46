#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the fuzzers and runs each for the seconds given (60), beginning with its kept corpus. What it finds anew goes to a folder under
# .build; an input worth keeping is moved to the corpus by hand. Prints a last line with the counts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
export SWITCHBOARD_FUZZ=1 SWIFT_BACKTRACE=enable=no # with Swift's own backtrace libFuzzer would write no reproducer
passed=0
failed=0
for name in JSONFuzz RequestFuzz; do
    swift build -c release --product "$name" --sanitize=fuzzer -Xswiftc -parse-as-library --scratch-path .build/fuzz
    found=.build/fuzz/corpus-$name
    mkdir -p "$found"
    if .build/fuzz/release/"$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix=".build/fuzz/$name-" "$found" "Tests/Fuzz/$name/Corpus" >".build/fuzz/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "passed: $name, $(sed -n 's/^stat::number_of_executed_units: *//p' ".build/fuzz/$name.log") executions"
    else
        failed=$((failed + 1))
        echo "failed: $name"
        tail -n 40 ".build/fuzz/$name.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
