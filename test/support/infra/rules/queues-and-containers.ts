import { isDeepStrictEqual } from 'node:util'
import {
  CONTAINERS,
  type ContainerDefinition,
  DATABASE_ID,
  indexingPolicyOf,
} from '../../../../shared/cosmos/containers.ts'
import { QUEUES } from '../../../../shared/messaging/queues.ts'
import { suggestion } from '../bicep/fault.ts'
import { type DeployedResource, isObject, plain, textOfValue } from '../bicep/value.ts'
import { at, expect, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

const SQL_DATABASE = 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases'

/** Seconds of an ISO 8601 duration without years and months; undefined for other texts. */
function durationS(text: string): number | undefined {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text)
  if (!match || text.endsWith('P') || text.endsWith('T')) return undefined
  const [days, hours, minutes, seconds] = match.slice(1).map((number) => Number(number ?? 0))
  return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)
}

/** The queues, their lock durations and their delivery counts match the code. */
export const queuesMatchTheCode: Rule = (subject) => {
  const queues = ofType(subject, 'Microsoft.ServiceBus/namespaces/queues')
  checkNames(
    subject,
    queues,
    QUEUES.map(({ name }) => name),
    'queue',
  )
  for (const queue of queues) {
    const definition = QUEUES.find(({ name }) => name === queue.name)
    if (definition === undefined) continue
    const lock = textOfValue(at(queue, 'properties.lockDuration') ?? '')
    if (durationS(lock) !== definition.lockDurationS) {
      const message = `lockDuration of ${definition.name} must be ${definition.lockDurationS} s, not ${lock}`
      subject.report(queue.at, message)
    }
    expect(subject, queue, 'properties.maxDeliveryCount', definition.maxDeliveryCount)
    // Dead-lettering keeps expired messages. The code does not use sessions or its own message ids.
    expect(subject, queue, 'properties.deadLetteringOnMessageExpiration', true)
    for (const name of ['requiresSession', 'requiresDuplicateDetection']) {
      if (at(queue, `properties.${name}`) === true) {
        subject.report(queue.at, `${name} of ${definition.name} must be false`)
      }
    }
    for (const name of ['defaultMessageTimeToLive', 'autoDeleteOnIdle', 'forwardTo', 'status']) {
      if (at(queue, `properties.${name}`) !== undefined) {
        subject.report(queue.at, `the code does not set ${name} of ${definition.name}`)
      }
    }
  }
}

/** The database and its containers match the code, which cannot create containers with its role. */
export const containersMatchTheCode: Rule = (subject) => {
  const databases = ofType(subject, SQL_DATABASE)
  checkNames(subject, databases, [DATABASE_ID], 'database')
  for (const database of databases) expect(subject, database, 'properties.resource.id', database.name)
  const containers = ofType(subject, `${SQL_DATABASE}/containers`)
  checkNames(
    subject,
    containers,
    CONTAINERS.map(({ id }) => id),
    'container',
  )
  for (const container of containers) {
    const definition = CONTAINERS.find(({ id }) => id === container.name)
    if (definition !== undefined) checkContainer(subject, container, definition)
  }
}

function checkContainer(subject: Subject, container: DeployedResource, definition: ContainerDefinition): void {
  const { id, partitionKey, defaultTtlS = null, uniqueKeys = [] } = definition
  const resource = (name: string) => `properties.resource.${name}`
  expect(subject, container, resource('id'), id)
  expect(subject, container, resource('partitionKey.kind'), 'Hash')
  const same = (name: string, expected: unknown) => {
    const value = at(container, resource(name))
    const found = value === undefined ? null : plain(value)
    if (isDeepStrictEqual(found, expected)) return
    const [actual, wanted] = [JSON.stringify(found), JSON.stringify(expected)]
    subject.report(container.at, `${name} of container ${id} must be ${wanted}, not ${actual}`)
  }
  same('partitionKey.paths', [partitionKey])
  same('defaultTtl', defaultTtlS)
  const keys = itemsOf(at(container, resource('uniqueKeyPolicy.uniqueKeys'))).map((key) =>
    isObject(key) ? plain(key.paths ?? []) : [],
  )
  if (!isDeepStrictEqual(keys, uniqueKeys)) {
    const message = `unique keys of container ${id} must be ${JSON.stringify(uniqueKeys)}, not ${JSON.stringify(keys)}`
    subject.report(container.at, message)
  }
  same('indexingPolicy', JSON.parse(JSON.stringify(indexingPolicyOf(definition))))
}

function checkNames(
  { report, deployment }: Subject,
  resources: readonly DeployedResource[],
  wanted: readonly string[],
  kind: string,
): void {
  const names = resources.map(({ name }) => textOfValue(name))
  for (const { at: where, name } of resources) {
    const written = textOfValue(name)
    if (!wanted.includes(written)) report(where, `the code has no ${kind} ${written}${suggestion(written, wanted)}`)
    if (names.indexOf(written) !== names.lastIndexOf(written)) report(where, `${kind} ${written} is declared twice`)
  }
  const where = resources[0]?.at ?? deployment.resources[0]?.at ?? { file: 'infra/main.bicep', line: 1 }
  for (const name of wanted) if (!names.includes(name)) report(where, `${kind} ${name} is missing`)
}
