#!/usr/bin/env sh
# Before provisioning: makes once what the templates take from the azd environment, and keeps it from then on.
set -eu

if [ -z "${CURSOR_KEYS:-}" ]; then
  azd env set CURSOR_KEYS "$(openssl rand -base64 32)"
fi
# The first day of a budget cannot be changed afterwards.
if [ -z "${BUDGET_START_DATE:-}" ]; then
  azd env set BUDGET_START_DATE "$(date -u +%Y-%m-01)"
fi
