#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Proves the Dockerfile's image without a container engine. Needs root, debootstrap and curl; takes a minute, or ten seconds with a cache.
#
#   Tests/Container/prove.sh [--binary FILE] [--cache FOLDER] [--mirror URL]
#
# It reads the Dockerfile itself, so the two cannot drift. The last stage is carried out as written: its Debian is made by debootstrap,
# its RUN lines run inside, its COPY puts the binary there. Then the entry point runs as process 1 of its own process, mount and network
# namespaces, on a read-only root with only /data to write to, once as the image's user and once as any user of group 0, and the health
# check is executed as the Dockerfile writes it.
#
# The binary must have been built on the same Debian (default: .build/release/switchboard). The mirror is the one that apt uses here. A
# finished root is kept in the cache folder under a name made of the steps that made it. Left out: the build stage, which needs Swift's
# own image.

set -euo pipefail

root_of_repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary="$root_of_repository/.build/release/switchboard" cache="" mirror=""
while (($#)); do
    case "$1" in
        --binary) binary=${2:?--binary needs a file} ;;
        --cache) cache=${2:?--cache needs a folder} ;;
        --mirror) mirror=${2:?--mirror needs a URL} ;;
        *) echo "prove.sh: $1: no such flag; there are --binary FILE, --cache FOLDER, --mirror URL" >&2; exit 64 ;;
    esac
    shift 2
done
((EUID == 0)) || { echo "prove.sh: run it as root: it makes namespaces and mounts" >&2; exit 77; }
for tool in debootstrap curl unshare nsenter chroot ip python3; do
    command -v "$tool" >/dev/null || {
        echo "prove.sh: $tool not found (apt-get install debootstrap curl util-linux iproute2 python3)" >&2
        exit 77
    }
done
[[ -x $binary ]] || {
    echo "prove.sh: no $binary; run swift build -c release --static-swift-stdlib, or name one with --binary" >&2
    exit 66
}

passed=0 failed=0
check() { # check NAME COMMAND…
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1)); echo "ok    $name"
    else
        failed=$((failed + 1)); echo "FAIL  $name${output:+: ${output//$'\n'/ | }}"
    fi
}
not() { ! "$@"; }
give_up() { # give_up LOG
    tail -5 "$1" >&2
    exit 69
}
same() { [[ $1 == "$2" ]] || { echo "'$1' is not '$2'"; return 1; }; }

work=$(mktemp -d "${TMPDIR:-/tmp}/switchboard-container.XXXXXX")
started=""
finish() {
    local code=$?
    # Process 1 and its mounts: a change of user took it out of reach of --kill-child.
    [[ -z $started ]] || kill -KILL $(cat "/proc/$started/task/$started/children" 2>/dev/null) "$started" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf --one-file-system "$work"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What the Dockerfile says about its last stage, as one file for each thing.
python3 - "$root_of_repository/Dockerfile" "$work" <<'PYTHON'
import json, pathlib, re, shlex, sys
text = re.sub(r"^\s*#.*\n", "", pathlib.Path(sys.argv[1]).read_text(), flags=re.M)
lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
stages = []
for line in lines:
    word, _, rest = line.partition(" ")
    if word == "FROM":
        stages.append([])
    stages[-1].append((word, rest.strip()))
def last(word):
    return next((rest for name, rest in reversed(stages[-1]) if name == word), "")
def put(name, value):
    pathlib.Path(sys.argv[2], "said-" + name).write_text(value + "\n")
put("image", last("FROM"))
put("run", "\n".join(rest for name, rest in stages[-1] if name == "RUN"))
put("packages", "\n".join(
    word for name, rest in stages[-1] if name == "RUN" for part in rest.split("&&") if "apt-get install" in part
    for word in shlex.split(part)[2:] if not word.startswith("-")))
put("binary", next(rest.split()[-1] for name, rest in stages[-1] if name == "COPY" and rest.startswith("--from=")))
put("environment", "\n".join(word for name, rest in stages[-1] if name == "ENV" for word in shlex.split(rest)))
put("port", last("EXPOSE"))
put("volume", last("VOLUME"))
put("user", last("USER"))
put("command", "\n".join(json.loads(last("ENTRYPOINT")) + json.loads(last("CMD"))))
put("health", "\n".join(json.loads(last("HEALTHCHECK").partition("CMD ")[2])))
put("copied", "\n".join(path for name, rest in stages[0] if name == "COPY" for path in rest.split()[:-1]))
put("files", "\n".join(rest for name, rest in stages[-1] if name == "COPY" and not rest.startswith("--")))
put("build", stages[0][0][1].split()[0])
PYTHON
said() { cat "$work/said-$1"; }
image=$(said image)
release=${image#debian:} release=${release%-slim}
port=$(said port)
inside=$(said binary)
mapfile -t environment < <(said environment)
mapfile -t command < <(said command)
mapfile -t health < <(said health)

check "the runtime image is a slim Debian" same "$image" "debian:$release-slim"
check "the build image is Swift's on the same Debian" same "$(said build | sed 's/.*-//')" "$release"
check "what is copied exists" bash -c 'cd "$1" && shift && ls -d "$@" >/dev/null' - "$root_of_repository" $(said copied)

# MARK: The root

apt_lines() { apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' | sort -u; }
[[ -n $mirror ]] || mirror=$(apt_lines | awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || { echo "prove.sh: apt knows no mirror of $release here; name one with --mirror" >&2; exit 69; }
mkdir -p "${cache:=$work/cache}"
steps=$({ echo "$release"; said run; } | sha256sum | cut -c1-16)
kept="$cache/root-$steps.tar"
root="$work/root"
mkdir "$root"
if [[ -f $kept ]]; then
    tar -C "$root" -xpf "$kept"
else
    debootstrap --variant=minbase "$release" "$root" "$mirror" >"$work/debootstrap.log" 2>&1 || give_up "$work/debootstrap.log"
    # Updates and security fixes too, where apt has them here: the image's own list has them.
    apt_lines | awk -v release="$release" 'index($2, release) == 1 && $3 == "main" { print "deb", $1, $2, $3 }' >"$work/sources.list"
    [[ ! -s $work/sources.list ]] || cp "$work/sources.list" "$root/etc/apt/sources.list"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    said run | while read -r line; do
        DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/sh -ec "$line" </dev/null >"$work/run.log" 2>&1 || give_up "$work/run.log"
    done
    tar -C "$root" -cpf "$kept.new" . && mv "$kept.new" "$kept"
fi
check "the RUN steps of the last stage work on $release" test -d "$root$(said volume)"
for package in $(said packages); do
    check "$package is installed" chroot "$root" dpkg-query -s "$package"
done
check "no package list is left in the image" bash -c '[[ -z $(ls -A "$1/var/lib/apt/lists") ]]' - "$root"
install -D -m 0755 "$binary" "$root$inside"
said files | while read -r source target; do
    if [[ -n $source ]]; then mkdir -p "$root$target" && cp -r "$root_of_repository/$source/." "$root$target"; fi
done

libraries() { chroot "$root" ldd "$inside"; }
check "every library of the binary is found inside" bash -c '! grep -F "not found" <<<"$1"' - "$(libraries 2>&1)"
check "no library of Swift is needed" bash -c '! grep -i swift <<<"$1"' - "$(libraries 2>&1 | sed 's/^[^=]*switchboard.*//')"
owner_of() { chroot "$root" dpkg -S "$1"; }
owners_are_listed() {
    local path owner
    for path in $(libraries | grep -o '/[^ ]*'); do
        # /lib is a link to /usr/lib, and dpkg knows a file by one of the two names.
        owner=$({ owner_of "$path" || owner_of "/usr$path" || owner_of "${path#/usr}"; } 2>/dev/null | head -1)
        owner=${owner%%:*}
        grep -qxF -e "$owner" <(said packages; echo libc6) ||
            { echo "$path is of '$owner', which the Dockerfile does not install"; return 1; }
    done
}
check "each library's package is in the Dockerfile" owners_are_listed
check "the image's user has a fixed id that is not root's" bash -c '[[ $1 =~ ^[1-9][0-9]+$ ]]' - "$(said user)"
check "group 0 may write to $(said volume)" same "$(stat -c '%g %A' "$root$(said volume)" | cut -c1-8)" "0 drwxrw"

# MARK: A run

# Process 1 of new namespaces: sees to the mounts, then becomes the program. Its arguments: root, data folder, volume, user, command…
cat >"$work/init.sh" <<'INIT'
set -euo pipefail
root=$1 data=$2 volume=$3 user=$4
shift 4
ip link set lo up
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$data" "$root$volume"
mount -o remount,bind,ro "$root"
exec chroot "$root" /usr/bin/setpriv --reuid "$user" --regid 0 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
    /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
INIT

# What an engine does on `exec`: the image's environment and user, in the namespaces of process 1.
within() {
    nsenter -t "$pid" --pid --mount --net --root="/proc/$pid/root" --wdns=/ /usr/bin/setpriv --reuid "$user" --regid 0 --clear-groups \
        /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" "$@"
}
ask() { nsenter -t "$pid" --net curl -sS --noproxy '*' --max-time 5 "$@"; }
is_there() { [[ -e /proc/$pid/ns/net ]]; }
until_answered() {
    local try
    for try in $(seq 100); do
        ask -o /dev/null "http://127.0.0.1:$port/health" 2>/dev/null && return 0
        is_there || { cat "$work/output"; return 1; }
        sleep 0.05
    done
    return 1
}
answers() {
    local answer
    answer=$(ask "http://127.0.0.1:$port/voice/answer?to=447700900123&from_user=Alice")
    python3 -c 'import json, sys; assert json.loads(sys.argv[1])[-1]["endpoint"][0]["number"] == "447700900123"' "$answer"
}
# Its first rule asks for the time in a zone, so that the image must have one.
answers_flow() {
    local flow
    flow=$(ask -o /dev/null -D - "http://127.0.0.1:$port/voice/ivr?to=1&from=447700900123" | tr -d '\r' | sed -n 's/^X-Switchboard-Flow: //p')
    [[ $flow == "ivr#1 ivr-menu" || $flow == "ivr#2 ivr-closed" ]] || { echo "$flow"; return 1; }
}
answers_event() {
    same "$(ask -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "$1" "http://127.0.0.1:$port/voice/event")" 200
}
who() { echo "$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status") $(basename "$(readlink "/proc/$pid/exe")")"; }
cannot_write() {
    local answer
    answer=$(nsenter -t "$pid" --mount --root="/proc/$pid/root" touch "$1" 2>&1) && return 1
    [[ $answer == *"Read-only file system"* ]] || { echo "$answer"; return 1; }
}
children() { cat /proc/"$pid"/task/*/children; }
ended_in_order() {
    local began=$SECONDS code=0
    kill -TERM "$pid"
    for _ in $(seq 120); do
        is_there || break
        sleep 0.1
    done
    ! is_there || { echo "still there after 12 s"; return 1; }
    ((SECONDS - began <= 10)) || { echo "took $((SECONDS - began)) s"; return 1; }
}

prove_run() {
    user=$1
    local as="as user $user" data="$work/data-$user" marker="$work/marker-$user" volume code
    volume=$(said volume)
    # A new volume gets the owner and mode that the folder has in the image.
    cp -a "$root$volume" "$data"
    touch "$marker"
    unshare --pid --fork --kill-child --mount --net bash "$work/init.sh" "$root" "$data" "$volume" "$user" "${environment[@]}" \
        "${command[@]}" >"$work/output" 2>&1 &
    started=$!
    for _ in $(seq 100); do
        pid=$(cat "/proc/$started/task/$started/children" 2>/dev/null || true)
        pid=${pid%% *}
        [[ -z $pid ]] || break
        sleep 0.02
    done
    check "$as: it answers on port $port" until_answered
    check "$as: it is process 1" same "$(who)" "1 ${command[0]}"
    check "$as: it runs with that id, group 0 and no capability" same \
        "$(awk '/^(Uid|Gid|CapEff|CapBnd):/ { printf "%s ", $2 }' "/proc/$pid/status")" "$user 0 0000000000000000 0000000000000000 "
    check "$as: the root is read-only, also for root" cannot_write /proof
    check "$as: so is its /tmp" cannot_write /tmp/proof
    check "$as: a call is answered with an NCCO" answers
    check "$as: a flow of the shipped folder answers" answers_flow
    check "$as: an event is answered 200" answers_event '{"uuid":"proof-1","status":"ringing"}'
    check "$as: the event is in $volume/events.jsonl" grep -qF '"event":{"uuid":"proof-1","status":"ringing"}' "$data/events.jsonl"
    check "$as: the health check passes: ${health[*]}" within "${health[@]}"
    check "$as: the health check fails where nobody listens" not within /usr/bin/env PORT=1 "${health[@]}"
    check "$as: its files belong to it and only it may read them" same \
        "$(cd "$data" && stat -c '%u %a %n' * | sort -k3)" "$user 600 admin-token"$'\n'"$user 600 events.jsonl"$'\n'"$user 600 events.lock"
    check "$as: nothing was written elsewhere" same \
        "$(find "$root" -xdev -newer "$marker" ! -type d | grep -v "^$root/usr/local/bin" || true)" ""
    check "$as: it has no child processes" same "$(children)" ""
    # The engine's exec leaves an orphan behind; process 1 inherits it. Whether it is reaped or not, nothing may hang on it.
    within /bin/sh -c 'sleep 0.2 & :'
    sleep 0.5
    check "$as: an inherited orphan disturbs no call" answers
    echo "      (inherited processes that are not reaped: $(children | wc -w) of 1)"
    check "$as: SIGTERM ends it within 10 s" ended_in_order
    code=0
    wait "$started" || code=$?
    started=""
    check "$as: it ended with exit code 0" same "$code" 0
    check "$as: it printed no error" bash -c '! grep -iE "error|fatal|denied|read-only" "$1"' - "$work/output"
    check "$as: the event is still there" grep -qF '"uuid":"proof-1"' "$data/events.jsonl"
}

prove_run "$(said user)"
prove_run 12345

echo "$passed passed, $failed failed"
((failed == 0))
