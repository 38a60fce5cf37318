#!/bin/sh
# step.sh TITLE COMMAND [ARGUMENT...]: prints what starts, runs it, and prints how long it took.
# step.sh --quiet TITLE COMMAND...: the same for a step of an installation, on one line. What the command prints goes
# to build/logs/; where it fails, the end of that file is shown. The seconds are added to build/installation-seconds,
# which .ci/run does not count.
set -eu

quiet=
if [ "$1" = --quiet ]; then
    quiet=yes
    shift
fi
title=$1
shift
start=$(date +%s)
seconds() {
    echo $(($(date +%s) - start))
}

if [ -z "$quiet" ]; then
    echo "==> $title"
    status=0
    "$@" || status=$?
    if [ "$status" -eq 0 ]; then
        echo "<== $title: done in $(seconds) s"
    else
        echo "<== $title: FAILED after $(seconds) s (exit status $status)"
    fi
    exit "$status"
fi

log=build/logs/$(printf %s "$title" | tr -cs 'A-Za-z0-9._-' '-').txt
mkdir -p build/logs
ticker=
stop_ticker() {
    [ -z "$ticker" ] || kill "$ticker" 2>/dev/null || true
    ticker=
}
printf '==> %s ...' "$title"
if [ -t 1 ]; then
    (while sleep 1; do printf '\r==> %s ... %s s' "$title" "$(seconds)"; done) &
    ticker=$!
    trap stop_ticker EXIT
    # Without these, some shells end at a signal and leave what EXIT names undone.
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi
status=0
"$@" >"$log" 2>&1 </dev/null || status=$?
stop_ticker
[ ! -t 1 ] || printf '\r==> %s ...' "$title"
took=$(seconds)
echo "$took" >>build/installation-seconds
if [ "$status" -eq 0 ]; then
    echo " $took s"
else
    echo " FAILED after $took s (exit status $status). The end of $log:"
    tail -n 30 "$log" | sed 's/^/    /'
fi
exit "$status"
