#!/usr/bin/env sh
# Runs after provisioning. Prints the one-time step that no template can declare; an owner of the application runs it.
set -eu

cat <<END

Add the Graph identity to the application as federated credential, once:

  az ad app federated-credential create --id $SERVICE_CLIENT_ID --parameters '{
    "name": "$AZURE_ENV_NAME",
    "issuer": "$FEDERATED_CREDENTIAL_ISSUER",
    "subject": "$FEDERATED_CREDENTIAL_SUBJECT",
    "audiences": ["api://AzureADTokenExchange"]
  }'

END
