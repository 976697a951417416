import { suggestion } from '../bicep/fault.ts'
import { type DeployedResource, Opaque, textOfValue, type Value } from '../deployment/value.ts'
import { at, expect, ofType, place, type Rule, type Subject } from './rule.ts'

const QUEUE = 'Microsoft.ServiceBus/namespaces/queues'
const STORAGE = 'Microsoft.Storage/storageAccounts'
const COMPONENT = 'Microsoft.Insights/components'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'

/** The roles that are assigned, by the id Azure gave each, and what each is assigned on. No other ones are needed. */
const ROLES: Readonly<Record<string, { readonly name: string; readonly scope: string }>> = {
  '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0': { name: 'Service Bus Data Receiver', scope: QUEUE },
  '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39': { name: 'Service Bus Data Sender', scope: QUEUE },
  'b7e6dc6d-f1e8-4753-8033-0f276bb0955b': { name: 'Storage Blob Data Owner', scope: STORAGE },
  '3913510d-42f4-4e42-8a64-420c390055eb': { name: 'Monitoring Metrics Publisher', scope: COMPONENT },
}

/** Cosmos DB Built-in Data Contributor: a role of the account. */
const DATA_CONTRIBUTOR = '00000000-0000-0000-0000-000000000002'

/** Every assignment is of a known role, to the service's identity, under a name that a second deployment gives again. */
export const rolesAreAssignedRight: Rule = (subject) => {
  const seen = new Map<string, DeployedResource>()
  for (const assignment of ofType(subject, 'Microsoft.Authorization/roleAssignments')) {
    const roleId = textOfValue(at(assignment, 'properties.roleDefinitionId') ?? '')
    const id = roleId.split('/').at(-1) ?? ''
    const role = ROLES[id]
    const where = place(assignment, 'properties.roleDefinitionId')
    if (role === undefined) {
      subject.report(where, `no role that is needed has the id ${id}${suggestion(id, Object.keys(ROLES))}`)
    } else if (assignment.scope?.type !== role.scope) {
      subject.report(
        assignment.at,
        `${role.name} is assigned on ${role.scope}, not on ${assignment.scope?.type ?? 'all'}`,
      )
    }
    if (!roleId.includes('/providers/Microsoft.Authorization/roleDefinitions/')) {
      subject.report(where, 'roleDefinitionId has to be the id of a role definition')
    }
    expect(subject, assignment, 'properties.principalType', 'ServicePrincipal')
    checkPrincipal(subject, assignment)
    checkName(subject, assignment, [assignment.scope?.id, at(assignment, 'properties.principalId'), id])
    if (seen.has(assignment.id)) subject.report(assignment.at, 'the same role is assigned twice')
    seen.set(assignment.id, assignment)
  }
  checkCompleteness(subject)
}

/** The database's own roles; its types mark none of what these need as required. */
export const databaseRolesAreAssignedRight: Rule = (subject) => {
  const assignments = ofType(subject, `${COSMOS}/sqlRoleAssignments`)
  for (const account of ofType(subject, COSMOS)) {
    if (!assignments.some(({ parent }) => parent?.id === account.id)) {
      subject.report(account.at, 'nobody is assigned a role of the database')
    }
  }
  for (const assignment of assignments) {
    const account = assignment.parent?.id ?? ''
    expect(subject, assignment, 'properties.roleDefinitionId', `${account}/sqlRoleDefinitions/${DATA_CONTRIBUTOR}`)
    checkPrincipal(subject, assignment)
    const scope = textOfValue(at(assignment, 'properties.scope') ?? '')
    const databases = ofType(subject, `${COSMOS}/sqlDatabases`).map(({ name }) => `${account}/dbs/${textOfValue(name)}`)
    if (![account, ...databases].includes(scope)) {
      subject.report(
        place(assignment, 'properties.scope'),
        `scope has to be the account or one of its databases, not ${scope}`,
      )
    }
    checkName(subject, assignment, [undefined, at(assignment, 'properties.principalId'), DATA_CONTRIBUTOR])
  }
}

function checkPrincipal(subject: Subject, assignment: DeployedResource): void {
  const principal = textOfValue(at(assignment, 'properties.principalId') ?? '')
  const identities = ofType(subject, 'Microsoft.ManagedIdentity/userAssignedIdentities')
  if (identities.some(({ id }) => principal === `${id}.properties.principalId`)) return
  const found = principal === '' ? 'missing' : principal
  subject.report(place(assignment, 'properties.principalId'), `principalId has to be the identity's: it is ${found}`)
}

/** A name by chance would be another one with the next deployment, and refused; undefined stands for anything. */
function checkName({ report }: Subject, assignment: DeployedResource, parts: (Value | undefined)[]): void {
  const { name } = assignment
  const given = name instanceof Opaque && name.call?.name === 'guid' ? name.call.given.map(textOfValue) : []
  const isMade = parts.every((part, index) => part === undefined || given[index] === textOfValue(part))
  if (given.length !== parts.length || !isMade) {
    report(place(assignment, 'name'), 'name has to be guid(scope, principal, role) of the same assignment')
  }
}

function checkCompleteness(subject: Subject): void {
  const assignments = ofType(subject, 'Microsoft.Authorization/roleAssignments')
  for (const [id, { name, scope }] of Object.entries(ROLES)) {
    for (const resource of ofType(subject, scope)) {
      const isAssigned = assignments.some(
        (each) =>
          each.scope?.id === resource.id && textOfValue(at(each, 'properties.roleDefinitionId') ?? '').endsWith(id),
      )
      if (!isAssigned) subject.report(resource.at, `nobody has the role ${name} on ${textOfValue(resource.name)}`)
    }
  }
}
