#!/bin/sh
# install_step.sh TITLE COMMAND [ARGUMENT...]: runs one step of an installation and prints one line, with its time.
# What the command prints goes to build/logs/; where it fails, the end of that file is shown. The seconds are added
# to build/installation-seconds, for .ci/run, which does not count them.
set -eu

title=$1
shift
log=build/logs/$(printf %s "$title" | tr -cs 'A-Za-z0-9._-' '-').txt
mkdir -p build/logs
start=$(date +%s)

seconds() {
    echo $(($(date +%s) - start))
}

ticker=
stop_ticker() {
    if [ -n "$ticker" ]; then
        kill "$ticker" 2>/dev/null || true
        wait "$ticker" 2>/dev/null || true
        ticker=
    fi
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
