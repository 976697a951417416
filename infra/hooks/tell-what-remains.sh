#!/usr/bin/env sh
# After provisioning: what no template can declare, to be done once by whoever owns the application.
set -eu

cat <<END

Once, so that the managed identity may stand for the application:

  az ad app federated-credential create --id $SERVICE_CLIENT_ID --parameters '{
    "name": "$AZURE_ENV_NAME",
    "issuer": "$FEDERATED_CREDENTIAL_ISSUER",
    "subject": "$FEDERATED_CREDENTIAL_SUBJECT",
    "audiences": ["api://AzureADTokenExchange"]
  }'

END
