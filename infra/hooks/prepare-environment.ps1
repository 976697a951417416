# Before provisioning: makes once what the templates take from the azd environment, and keeps it from then on.
$ErrorActionPreference = 'Stop'

# The first day of a budget cannot be changed afterwards.
if (-not $env:BUDGET_START_DATE) {
  azd env set BUDGET_START_DATE ([DateTime]::UtcNow.ToString('yyyy-MM-01'))
}
