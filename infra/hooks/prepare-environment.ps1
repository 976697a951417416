# Runs before provisioning. Sets the values that the templates read from the azd environment, once.
$ErrorActionPreference = 'Stop'

# The start date of a budget cannot be changed later.
if (-not $env:BUDGET_START_DATE) {
  azd env set BUDGET_START_DATE ([DateTime]::UtcNow.ToString('yyyy-MM-01'))
}
