#!/usr/bin/env bash
# Calls the API of a running local environment as the demo application `writer`: creates a collection of all nurses,
# previews a link to a demo group, creates the link and waits for its first sync job. Needs curl and any Node.js.
set -euo pipefail
directory_url=${DIRECTORY_URL:-https://localhost:7072}
ca_file=${CA_FILE:-.local/ca.pem}

directory() { curl --silent --show-error --cacert "$ca_file" "$directory_url$1" "${@:2}"; }

# The value at a dotted path in JSON. An item of a list is named by its index, or by its `name` or `kind`.
value() {
  node -e 'let value = JSON.parse(require("fs").readFileSync(0))
    for (const key of process.argv[1].split("."))
      value = (Array.isArray(value) && value.find((item) => (item.name ?? item.kind) === key)) || value?.[key]
    console.log(value)' "$1"
}

demo=$(directory /local/demo)
api_url=$(value apiUrl <<< "$demo")
tenant=$(value tenants.0.tenantId <<< "$demo")
token=$(directory "/$tenant/oauth2/v2.0/token" \
  --data grant_type=client_credentials --data-urlencode "scope=$(value scope <<< "$demo")" \
  --data-urlencode "client_id=$(value tenants.0.apps.writer.clientId <<< "$demo")" \
  --data-urlencode "client_secret=$(value tenants.0.apps.writer.clientSecret <<< "$demo")" | value access_token)

api() {
  curl --silent --show-error --request "$1" "$api_url$2" --header "Authorization: Bearer $token" \
    ${3:+--header 'Content-Type: application/json' --data "$3"}
}

echo 'A criteria collection of all nurses:'
collection=$(api POST /collections-criteria/beta '{ "objectType": "Relationship", "name": "Nurses", "condition": {
  "groupOperator": "AND", "conditions": [
    { "id": "relationshipTitle", "field": "relationshipTitle", "operator": "Equals", "value": "Nurse" } ] } }' | value data)
api GET "/collections-criteria/beta/$collection"

echo -e '\nThe preview of a link to a group:'
group=$(value tenants.0.groups.unified.id <<< "$demo")
api POST /group-link/beta/group-links/preview "{ \"collectionId\": \"$collection\", \"groupId\": \"$group\" }"

echo -e '\nThe link:'
api POST /group-link/beta/group-links "{ \"collectionId\": \"$collection\", \"directoryGroupId\": \"$group\" }"

echo -e '\nIts first sync job:'
for _ in {1..30}; do
  jobs=$(api GET "/group-link/beta/sync-jobs?collectionId=$collection")
  case $(value data.0.status <<< "$jobs") in Succeeded | Failed) break ;; esac
  sleep 1
done
echo "$jobs"
