# After provisioning: what no template can declare, to be done once by whoever owns the application.
$ErrorActionPreference = 'Stop'

@"

Once, so that the managed identity may stand for the application: save as credential.json

  {
    "name": "$env:AZURE_ENV_NAME",
    "issuer": "$env:FEDERATED_CREDENTIAL_ISSUER",
    "subject": "$env:FEDERATED_CREDENTIAL_SUBJECT",
    "audiences": ["api://AzureADTokenExchange"]
  }

and run

  az ad app federated-credential create --id $env:SERVICE_CLIENT_ID --parameters '@credential.json'

"@
