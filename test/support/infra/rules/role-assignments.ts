import { suggestion } from '../bicep/fault.ts'
import { type DeployedResource, Opaque, textOfValue, type Value } from '../bicep/value.ts'
import { identitiesByPurpose, type Purpose } from './identities.ts'
import { at, expect, ofType, type Rule, type Subject } from './rule.ts'

const NAMESPACE = 'Microsoft.ServiceBus/namespaces'
const QUEUE = 'Microsoft.ServiceBus/namespaces/queues'
const BLOB_CONTAINER = 'Microsoft.Storage/storageAccounts/blobServices/containers'
const COMPONENT = 'Microsoft.Insights/components'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'

type AssignedRole = {
  readonly name: string
  readonly scope: string
  /** The names of the resources in scope; undefined for all resources of the type. */
  readonly on?: RegExp
  /** The purpose of the identity with the role. */
  readonly holder: Purpose
}

/** Containers that the Functions host creates in its storage account. */
const OF_THE_HOST = /^azure-webjobs-/

/** All necessary roles with their scopes, by role definition id. */
const ROLES: Readonly<Record<string, AssignedRole>> = {
  '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0': { name: 'Service Bus Data Receiver', scope: QUEUE, holder: 'service' },
  '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39': { name: 'Service Bus Data Sender', scope: QUEUE, holder: 'service' },
  'acdd72a7-3385-48ef-bd42-f606fba81ae7': { name: 'Reader', scope: NAMESPACE, holder: 'service' },
  'b7e6dc6d-f1e8-4753-8033-0f276bb0955b': {
    name: 'Storage Blob Data Owner',
    scope: BLOB_CONTAINER,
    on: OF_THE_HOST,
    holder: 'host',
  },
  'ba92f5b4-2d11-453d-a403-e96b0029c9fe': {
    name: 'Storage Blob Data Contributor',
    scope: BLOB_CONTAINER,
    on: /^deployments$/,
    holder: 'deployment',
  },
  '3913510d-42f4-4e42-8a64-420c390055eb': {
    name: 'Monitoring Metrics Publisher',
    scope: COMPONENT,
    holder: 'service',
  },
}

/** Cosmos DB Built-in Data Contributor: a role of the account. */
const DATA_CONTRIBUTOR = '00000000-0000-0000-0000-000000000002'

/** Each assignment has a known role, the identity that needs it, and a deterministic name. */
export const roleAssignmentsAreCorrect: Rule = (subject) => {
  const seen = new Map<string, DeployedResource>()
  for (const assignment of ofType(subject, 'Microsoft.Authorization/roleAssignments')) {
    const roleId = textOfValue(at(assignment, 'properties.roleDefinitionId') ?? '')
    const id = roleId.split('/').at(-1) ?? ''
    const role = ROLES[id]
    const where = assignment.at
    if (role === undefined) {
      subject.report(where, `${id} is not the id of a necessary role${suggestion(id, Object.keys(ROLES))}`)
    } else if (!isScopeOf(role, assignment.scope)) {
      const { type = 'all', name = '' } = assignment.scope ?? {}
      subject.report(
        assignment.at,
        `${role.name} is assigned on ${wantedScope(role)}, not on ${type} ${textOfValue(name)}`,
      )
    }
    if (!roleId.includes('/providers/Microsoft.Authorization/roleDefinitions/')) {
      subject.report(where, 'roleDefinitionId must be the id of a role definition')
    }
    expect(subject, assignment, 'properties.principalType', 'ServicePrincipal')
    if (role !== undefined) checkPrincipal(subject, assignment, role.holder)
    checkName(subject, assignment, [assignment.scope?.id, at(assignment, 'properties.principalId'), id])
    if (seen.has(assignment.id)) subject.report(assignment.at, 'the same role is assigned twice')
    seen.set(assignment.id, assignment)
  }
  checkCompleteness(subject)
}

/** Checks the assignments of database roles, whose properties are all optional in the type data. */
export const databaseRoleAssignmentsAreCorrect: Rule = (subject) => {
  const assignments = ofType(subject, `${COSMOS}/sqlRoleAssignments`)
  for (const account of ofType(subject, COSMOS)) {
    if (!assignments.some(({ parent }) => parent?.id === account.id)) {
      subject.report(account.at, 'the database has no role assignment')
    }
  }
  for (const assignment of assignments) {
    const account = assignment.parent?.id ?? ''
    expect(subject, assignment, 'properties.roleDefinitionId', `${account}/sqlRoleDefinitions/${DATA_CONTRIBUTOR}`)
    checkPrincipal(subject, assignment, 'service')
    const scope = textOfValue(at(assignment, 'properties.scope') ?? '')
    const databases = ofType(subject, `${COSMOS}/sqlDatabases`).map(({ name }) => `${account}/dbs/${textOfValue(name)}`)
    if (![account, ...databases].includes(scope)) {
      subject.report(assignment.at, `scope must be the account or one of its databases, not ${scope}`)
    }
    checkName(subject, assignment, [undefined, at(assignment, 'properties.principalId'), DATA_CONTRIBUTOR])
  }
}

const isScopeOf = ({ scope, on }: AssignedRole, resource: DeployedResource | undefined): boolean =>
  resource?.type === scope && (on === undefined || on.test(textOfValue(resource.name)))

const wantedScope = ({ scope, on }: AssignedRole): string => (on === undefined ? scope : `${scope} ${on}`)

function checkPrincipal(subject: Subject, assignment: DeployedResource, holder: Purpose): void {
  const principal = textOfValue(at(assignment, 'properties.principalId') ?? '')
  if (principal === `${identitiesByPurpose(subject)[holder]?.id}.properties.principalId`) return
  const found = principal === '' ? 'missing' : principal
  subject.report(assignment.at, `principalId must be that of the ${holder} identity: it is ${found}`)
}

/** Azure rejects a second assignment under another name, so names are derived. Undefined matches any argument. */
function checkName({ report }: Subject, assignment: DeployedResource, parts: (Value | undefined)[]): void {
  const { name } = assignment
  const actual = name instanceof Opaque && name.call?.name === 'guid' ? name.call.arguments.map(textOfValue) : []
  const isMade = parts.every((part, index) => part === undefined || actual[index] === textOfValue(part))
  if (actual.length !== parts.length || !isMade) {
    report(assignment.at, 'name must be guid(scope, principal, role) of the same assignment')
  }
}

function checkCompleteness(subject: Subject): void {
  const assignments = ofType(subject, 'Microsoft.Authorization/roleAssignments')
  for (const [id, role] of Object.entries(ROLES)) {
    for (const resource of ofType(subject, role.scope).filter((candidate) => isScopeOf(role, candidate))) {
      const isAssigned = assignments.some(
        (candidate) =>
          candidate.scope?.id === resource.id &&
          textOfValue(at(candidate, 'properties.roleDefinitionId') ?? '').endsWith(id),
      )
      if (!isAssigned)
        subject.report(resource.at, `the role ${role.name} is not assigned on ${textOfValue(resource.name)}`)
    }
  }
}
