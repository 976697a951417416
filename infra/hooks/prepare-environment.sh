#!/usr/bin/env sh
# Runs before provisioning. Sets the values that the templates read from the azd environment, once.
set -eu

# Any tenant of the world could use a service without a list.
if [ "${PRODUCTION:-false}" = "true" ] && { [ -z "${TENANTS:-}" ] || [ "${TENANTS:-}" = "any" ]; }; then
  echo "Name the tenants that may use the production service: azd env set TENANTS <tenant IDs, comma-separated>" >&2
  exit 1
fi

# The start date of a budget cannot be changed later.
if [ -z "${BUDGET_START_DATE:-}" ]; then
  azd env set BUDGET_START_DATE "$(date -u +%Y-%m-01)"
fi
