# Runs before provisioning. Sets the values that the templates read from the azd environment, once.
$ErrorActionPreference = 'Stop'

# Any tenant of the world could use a service without a list.
if ($env:PRODUCTION -eq 'true' -and (-not $env:TENANTS -or $env:TENANTS -eq 'any')) {
  throw 'Name the tenants that may use the production service: azd env set TENANTS <tenant IDs, comma-separated>'
}

# The start date of a budget cannot be changed later.
if (-not $env:BUDGET_START_DATE) {
  azd env set BUDGET_START_DATE ([DateTime]::UtcNow.ToString('yyyy-MM-01'))
}
