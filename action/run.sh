#!/usr/bin/env bash
# Runs the command under `phx-sim exec`. The exit code is an output, so that the report and the comment follow a failure.
set -euo pipefail

options=(--report "$INPUT_REPORT")
[ -n "$INPUT_SCENARIO" ] && options+=(--scenario "$INPUT_SCENARIO")
[ -n "$INPUT_FAIL_ON" ] && options+=(--fail-on "$INPUT_FAIL_ON")
[ -n "$INPUT_BASELINE" ] && options+=(--baseline "$INPUT_BASELINE")
read -ra more <<<"$INPUT_ARGS"

if npx --no-install phx-sim --version >/dev/null 2>&1; then
  phx_sim=(npx --no-install phx-sim)
else
  phx_sim=(npx --yes "phx-sim@$INPUT_VERSION")
fi

code=0
"${phx_sim[@]}" exec "${options[@]}" ${more[@]+"${more[@]}"} -- bash -euo pipefail -c "$INPUT_RUN" || code=$?

{
  echo "exit-code=$code"
  if [ -f "$INPUT_REPORT/summary.json" ]; then
    echo "report=$(cd "$INPUT_REPORT" && pwd)"
    echo "verdict=$([ "$code" = 0 ] && echo passed || echo failed)"
  fi
} >>"$GITHUB_OUTPUT"
