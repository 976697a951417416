import { Refusal } from '../../kernel/refusals.ts'
import { type AttributeKind, attributeDefinition, type ObjectType } from '../core/core-object.ts'
import type { ConnectorStore } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import type { CoreObjectWriter } from './merge-writes.ts'
import type { MergedCoreObject } from './merged-core-object.ts'

/** What the stores keep of a person besides ids. Each call finds what is left, and can be repeated. */
export interface PersonalDataStore {
  /** The stored identities that are one person: that with this id, and all that became one with it by merges. */
  idsOfPerson(tenantId: string, identityId: string): Promise<readonly string[]>
  /** The live connector objects of identities that belong to a core object, or have: they keep their last core objects. */
  liveObjectsOf(tenantId: string, coreObjectId: string): Promise<readonly LiveObject[]>
  /**
   * Erases the notes on the requests of an identity, and its own notes on those of others.
   * @returns Whether requests name it.
   */
  eraseNotes(tenantId: string, identityId: string): Promise<boolean>
  /**
   * Erases these texts, and the notes of these actors, from audit records of collections, links and held removals.
   * @returns Whether records have any of the texts or the ids.
   */
  eraseAudit(tenantId: string, identityIds: readonly string[], texts: readonly string[]): Promise<boolean>
  /** Erases all notes from sync jobs of earlier releases. Nothing reads them: the audit has them as well. */
  eraseJobNotes(tenantId: string): Promise<void>
  /** Erases the stored results of submissions in the tenant. Sent again, a submission returns the request as it is. */
  eraseResults(tenantId: string): Promise<void>
  /** Deletes the saved rows of the tenant. They are made again from the core objects. */
  deleteSavedRows(tenantId: string): Promise<void>
  /**
   * Erases the texts of the deleted connector objects of identities.
   * @returns Whether there are any.
   */
  eraseConnectorObjects(tenantId: string, identityIds: readonly string[]): Promise<boolean>
  /**
   * Erases the texts of deleted identities.
   * @throws Refusal `IdentityIsLive` when one was restored meanwhile.
   */
  eraseCoreObjects(tenantId: string, identityIds: readonly string[]): Promise<void>
}

type LiveObject = Pick<ConnectorObject, 'connectorId' | 'coreObjectId'>

type ErasureDependencies = {
  readonly connectors: Pick<ConnectorStore, 'list'>
  readonly coreObjects: Pick<CoreObjectWriter, 'mergedOfIds'>
  readonly personalData: PersonalDataStore
}

/** Attributes that identify one person, where they stand in conditions. A name can be that of several people. */
const IDENTIFYING = [
  'nin',
  'email',
  'privateEmail',
  'mobile',
  'privateMobile',
  'directoryUserPrincipalName',
  'directoryOnPremisesSamAccountName',
] as const

/**
 * Erases name, contact, national identity number and notes of a deleted identity, and of those that became one with it,
 * and leaves ids. It is refused while the person lives on under another id, as most of the texts are theirs. Repeating an
 * interrupted call completes it: the texts of the core objects, by which others are found, go last. When the core object
 * has expired, everything that names its id is still found.
 * @throws Refusal `CoreObjectNotFound` when nothing names the id, `IdentityIsLive`.
 */
export async function erasePersonalData(
  tenantId: string,
  identityId: string,
  deps: ErasureDependencies,
): Promise<void> {
  const { coreObjects, personalData } = deps
  const ids = [...new Set([identityId, ...(await personalData.idsOfPerson(tenantId, identityId))])]
  const person = (await coreObjects.mergedOfIds(tenantId, ids)).map(({ value }) => value)
  const found = person.find(({ id }) => id === identityId)
  if (found !== undefined && found.objectType !== 'identity') throw identityNotFound(identityId)
  const survivor = person.find(({ deleted }) => !deleted)
  const survivorId = survivor?.id ?? (await survivorOfExpired(tenantId, identityId, person, deps))
  if (survivorId !== undefined) throw identityIsLive(survivorId)
  let isNamed = person.length > 0
  for (const id of ids) isNamed = (await personalData.eraseNotes(tenantId, id)) || isNamed
  const texts = new Set(person.flatMap(identifyingTexts))
  isNamed = (await personalData.eraseAudit(tenantId, ids, [...texts])) || isNamed
  isNamed = (await personalData.eraseConnectorObjects(tenantId, ids)) || isNamed
  if (!isNamed) throw identityNotFound(identityId)
  await personalData.eraseJobNotes(tenantId)
  await personalData.eraseResults(tenantId)
  await personalData.deleteSavedRows(tenantId)
  await personalData.eraseCoreObjects(tenantId, ids)
}

/**
 * Returns the identity in which the person may live on. Only live connector objects that have belonged to an expired
 * identity lead from there to another one. Those that supplement others carry no person.
 * @param stored The identities of the person that have not expired.
 */
async function survivorOfExpired(
  tenantId: string,
  identityId: string,
  stored: readonly MergedCoreObject[],
  { connectors, personalData }: ErasureDependencies,
): Promise<string | undefined> {
  const named = new Set([identityId, ...stored.flatMap(({ mergedInto }) => mergedInto ?? [])])
  const expired = [...named.difference(new Set(stored.map(({ id }) => id)))]
  const objects = (await Promise.all(expired.map((id) => personalData.liveObjectsOf(tenantId, id)))).flat()
  const rules = rulesOf(objects.length === 0 ? [] : await connectors.list(tenantId))
  return objects.find(({ connectorId }) => !rules.supplements(connectorId))?.coreObjectId
}

const identityNotFound = (identityId: string): Refusal =>
  new Refusal('CoreObjectNotFound', `There is no identity ${identityId}`, 'id')

export const identityIsLive = (identityId: string): Refusal =>
  new Refusal('IdentityIsLive', `Identity ${identityId} is not deleted`)

function identifyingTexts({ attributes }: MergedCoreObject): string[] {
  return IDENTIFYING.flatMap((name) => {
    const text = attributes[name]
    return typeof text === 'string' ? [text] : []
  })
}

const TEXT_KINDS: ReadonlySet<AttributeKind> = new Set<AttributeKind>(['string', 'date'])

/** Returns attributes without texts: ids, references and flags stay. */
export function withoutTexts<T>(
  objectType: ObjectType,
  attributes: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(attributes).filter(([name]) => {
      const kind = attributeDefinition(objectType, name)?.kind
      return kind !== undefined && !TEXT_KINDS.has(kind)
    }),
  )
}

/** Returns an audit record without these texts, wherever one is a whole value, and without the notes of the actors. */
export function withoutPersonalTexts(
  entry: { readonly actorId?: unknown },
  actorIds: ReadonlySet<unknown>,
  texts: ReadonlySet<string>,
): unknown {
  const isOwn = actorIds.has(entry.actorId)
  const erased = (value: unknown, name?: string): unknown => {
    if (typeof value === 'string') return texts.has(value) || (isOwn && name === 'notes') ? ERASED : value
    if (Array.isArray(value)) return value.map((item) => erased(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, erased(member, key)]))
  }
  return erased(entry)
}

/** In place of a text that was erased. */
const ERASED = 'erased'
