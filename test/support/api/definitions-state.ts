import { isDeepStrictEqual } from 'node:util'
import type { Step } from '../../../infra/definitions/step.ts'
import { type CollectionRecord, DEFINITION_MEMBER, type Tenant } from '../../../infra/definitions/tenant.ts'
import { normalisedDefinition } from '../../../infra/definitions/wanted.ts'
import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import type { DefinitionsTenant, Members } from './definitions-tenant.ts'

/** All that definitions say, and who is a member. */
export type DefinitionsState = { readonly tenant: Tenant; readonly members: Members }

/** A change of one record, in the words of a step. */
type Change = Pick<Step, 'action' | 'kind' | 'name' | 'fields'>

export async function stateOf({ read, membersOf }: DefinitionsTenant): Promise<DefinitionsState> {
  const tenant = await read()
  return { tenant, members: await membersOf(tenant) }
}

/** The records that were created, changed and deleted between two states. */
export function differenceOf({ tenant: before }: DefinitionsState, { tenant: after }: DefinitionsState): Change[] {
  const [old, now] = [recordsOf(before), recordsOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key): Change[] => {
    const [first, last] = [old.get(key), now.get(key)]
    const { kind, name } = (last ?? first) as Record
    if (first === undefined) return [{ action: 'create', kind, name, fields: [] }]
    if (last === undefined) return [{ action: 'delete', kind, name, fields: [] }]
    const names = new Set([...Object.keys(first.members), ...Object.keys(last.members)])
    const fields = [...names].filter((member) => !isDeepStrictEqual(first.members[member], last.members[member])).sort()
    return fields.length === 0 ? [] : [{ action: 'update', kind, name, fields }]
  })
}

type Record = Pick<Step, 'kind' | 'name'> & { readonly members: JsonObject }

function recordsOf({ collections, links, settings, schema }: Tenant): ReadonlyMap<string, Record> {
  const { updatedAt: _at, updatedBy: _by, ...members } = settings
  return new Map<string, Record>([
    ['settings', { kind: 'settings', name: 'settings', members }],
    ...collections.map((record) => [record.id, collectionOf(record, schema)] as const),
    ...links.map(({ id, collectionId, directoryGroupId, directoryGroupDisplayName, state }) => {
      const name = directoryGroupDisplayName ?? directoryGroupId
      return [id, { kind: 'link', name, members: { collectionId, directoryGroupId, state } }] as const
    }),
  ])
}

function collectionOf(record: CollectionRecord, schema: Tenant['schema']): Record {
  const { kind, name, objectType, description, metadata } = record
  const { definition } = normalisedDefinition(kind, record.definition, schema, objectType)
  const members: JsonObject = {
    name,
    objectType,
    description: description ?? '',
    metadata: metadata as Json,
    [DEFINITION_MEMBER[kind]]: definition,
  }
  return { kind, name, members }
}
