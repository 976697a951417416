#!/usr/bin/env sh
# Runs before provisioning. Sets the values that the templates read from the azd environment, once.
set -eu

# The start date of a budget cannot be changed later.
if [ -z "${BUDGET_START_DATE:-}" ]; then
  azd env set BUDGET_START_DATE "$(date -u +%Y-%m-01)"
fi
