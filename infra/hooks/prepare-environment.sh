#!/usr/bin/env sh
# Before provisioning: makes once what the templates take from the azd environment, and keeps it from then on.
set -eu

# The first day of a budget cannot be changed afterwards.
if [ -z "${BUDGET_START_DATE:-}" ]; then
  azd env set BUDGET_START_DATE "$(date -u +%Y-%m-01)"
fi
