#!/bin/sh
# step.sh TITLE COMMAND [ARGUMENT...]: says what starts, runs it, and says how long it took.
set -eu

title=$1
shift
echo "==> $title"
start=$(date +%s)
status=0
"$@" || status=$?
seconds=$(($(date +%s) - start))
if [ "$status" -eq 0 ]; then
    echo "<== $title: done in $seconds s"
else
    echo "<== $title: FAILED after $seconds s (exit status $status)"
fi
exit "$status"
