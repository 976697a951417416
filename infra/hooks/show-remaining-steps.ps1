# Runs after provisioning. Prints the one-time step that no template can declare; an owner of the application runs it.
$ErrorActionPreference = 'Stop'

@"

Add the Graph identity to the application as federated credential, once. Save this as credential.json:

  {
    "name": "$env:AZURE_ENV_NAME",
    "issuer": "$env:FEDERATED_CREDENTIAL_ISSUER",
    "subject": "$env:FEDERATED_CREDENTIAL_SUBJECT",
    "audiences": ["api://AzureADTokenExchange"]
  }

Then run:

  az ad app federated-credential create --id $env:SERVICE_CLIENT_ID --parameters '@credential.json'

"@
