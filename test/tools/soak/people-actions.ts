import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { apply, CONNECTORS_PATH, coreIdOf, expectStatus, type Organisation } from './organisation.ts'
import { type ObjectData, type ObjectKind, referredId, type SourceName } from './people-model.ts'
import { unitKey } from './recent-changes.ts'
import { endByDeletion, losePosition, mergeRequests, renamePosition, restoreAfterDeletion } from './request-model.ts'
import {
  accountItem,
  deliveredPosition,
  hire,
  identityItem,
  isBoundByAccounts,
  LEADER_COUNT,
  ninOf,
  ninOfExternalId,
  payrollItem,
  payrollNinOf,
  type SourceItem,
  STAFF_COUNT,
  unitItem,
} from './source-items.ts'

type ItemResult = { readonly index: number; readonly status: number; readonly errors?: readonly { code: string }[] }

/** Sends objects to a source, and applies them to the model one after another. An item without data deletes. */
export async function importItems(organisation: Organisation, source: SourceName, items: readonly SourceItem[]) {
  await sendItems(organisation, source, items)
  for (const item of items) applyItem(organisation, source, item)
}

/** Sends objects to a source, those that were refused for the time being again, until all are acknowledged. */
export async function sendItems(organisation: Organisation, source: SourceName, items: readonly SourceItem[]) {
  let left = items.map((item) => ({ op: item.data === undefined ? 'delete' : 'upsert', ...item }))
  let isRetry = false
  while (left.length > 0) {
    const reply = await expectStatus<ItemResult[]>(
      organisation,
      {
        token: organisation.callers.connector,
        method: 'POST',
        path: `${CONNECTORS_PATH}/${organisation.connectorIds[source]}/data/batch`,
        body: { items: left },
      },
      200,
    )
    const mayBeDone = isRetry || reply.isRetry
    isRetry = true
    left = left.filter((item, index) => !isWritten(item.op, reply.data[index], mayBeDone))
  }
}

function applyItem(organisation: Organisation, source: SourceName, item: SourceItem): void {
  const { objectType, externalId, data } = item
  const { people, joinable } = organisation.model
  applyRename(organisation, source, item)
  const former = people.find(source, objectType, externalId)
  const formerNin = former?.nin
  noteChange(organisation, item, former)
  const isCorrection = data !== undefined && formerNin !== undefined && formerNin !== data.nin
  const write = () => {
    people.write(source, objectType, externalId, data)
    if (objectType === 'relationship' && data === undefined) losePositions(organisation, externalId)
  }
  if (isCorrection) {
    apply(organisation, () => {
      write()
      for (const { requests } of joinable.values()) mergeRequests(requests, String(formerNin), String(data.nin))
    })
    return
  }
  apply(organisation, write, (nin, isThere) => {
    // The source sends the data again.
    if (isThere) organisation.erasedNins.delete(nin)
    for (const { requests } of joinable.values()) {
      for (const request of requests.filter((request) => request.nin === nin)) {
        if (isThere) restoreAfterDeletion(request)
        else endByDeletion(request)
      }
    }
  })
}

/** What names the object follows. */
function applyRename(organisation: Organisation, source: SourceName, item: SourceItem): void {
  const { objectType, externalId, previousExternalId: former } = item
  if (former === undefined) return
  const { model, positionNames } = organisation
  apply(organisation, () => {
    model.people.rename(source, objectType, former, externalId)
    if (objectType !== 'relationship') return
    for (const { requests } of model.joinable.values()) {
      for (const request of requests) renamePosition(request, former, externalId)
    }
    for (const [id, name] of positionNames) if (name === former) positionNames.set(id, externalId)
  })
}

/** The requests follow in the background. */
function losePositions({ model, changedNins }: Organisation, positionId: string): void {
  for (const { requests } of model.joinable.values()) {
    for (const request of requests) if (losePosition(request, positionId)) changedNins.add(request.nin)
  }
}

function noteChange(
  { recentChanges, model: { people } }: Organisation,
  { objectType, externalId, data }: SourceItem,
  former: ObjectData | undefined,
): void {
  for (const each of [former, data]) {
    if (each === undefined) continue
    if (objectType === 'orgUnit') recentChanges.note(unitKey(externalId))
    else if (objectType === 'identity') recentChanges.note(String(each.nin ?? ninOfExternalId(externalId)))
    else recentChanges.note(String(people.find('hr', 'identity', referredId(each.identity))?.nin))
  }
}

/** @throws Error for a refusal that no retry repairs */
function isWritten(operation: string, result: ItemResult | undefined, mayBeDone: boolean): boolean {
  const status = result?.status ?? 0
  if (status === 200 || status === 201) return true
  // An earlier attempt without an answer has deleted the object.
  if (operation === 'delete' && status === 404 && mayBeDone) return true
  if (status >= 500 || result?.errors?.some(({ code }) => code === 'StaleVersion')) return false
  throw new Error(`An item of a batch was refused: ${JSON.stringify(result)}`)
}

/** Everyone's first import. */
export async function importEveryone(organisation: Organisation, random: Random): Promise<void> {
  const people = Array.from({ length: organisation.personCount }, (_, person) => person)
  const units = Array.from({ length: organisation.unitCount }, (_, unit) => unitItem(organisation, unit, random))
  await importItems(organisation, 'hr', [...units, ...people.flatMap((person) => hire(organisation, person, random))])
  const bound = people.filter(isBoundByAccounts)
  await importItems(
    organisation,
    'accounts',
    bound.map((person) => accountItem(organisation, person)),
  )
}

/** A batch of the HR system about one to twenty people, or of the source of accounts about one. */
export async function changePeople(organisation: Organisation, random: Random): Promise<void> {
  const count = random.percent(80) ? 1 : 1 + random.below(20)
  const people = new Set(Array.from({ length: count }, () => random.below(organisation.personCount)))
  await organisation.locks.run([...people].map(ninOf), async () => {
    const [first = 0] = people
    if (people.size === 1 && isBoundByAccounts(first) && random.percent(40)) {
      const { data, ...item } = accountItem(organisation, first)
      const isThere = organisation.model.people.find('accounts', 'identity', item.externalId) !== undefined
      await importItems(organisation, 'accounts', [isThere ? item : { ...item, data: data ?? {} }])
      return
    }
    const items = [...people].flatMap((person) => personChange(organisation, person, random))
    await importItems(organisation, 'hr', items)
  })
}

function personChange(organisation: Organisation, person: number, random: Random): SourceItem[] {
  const { people } = organisation.model
  const nameOf = (letter: 'P' | 'R' | 'S') => organisation.names.of(`${letter}${person}`)
  const isThere = (objectType: ObjectKind, externalId: string) =>
    people.find('hr', objectType, externalId) !== undefined
  const gone = (objectType: ObjectKind, externalId: string) =>
    isThere(objectType, externalId) ? [{ objectType, externalId }] : []
  if (!isThere('identity', nameOf('P'))) return hire(organisation, person, random)
  const chance = random.below(100)
  const isDeletable = person >= STAFF_COUNT && people.find('cards', 'identity', `C${person}`) === undefined
  if (chance < 12 && isDeletable) {
    const positions = [...gone('relationship', nameOf('R')), ...gone('relationship', nameOf('S'))]
    return [...positions, { objectType: 'identity', externalId: nameOf('P') }]
  }
  if (chance < 30) return [identityItem(organisation, person, random)]
  if (chance < 40) return gone('relationship', nameOf('S'))
  if (chance < 55) return deliveredPosition(organisation, person, 'S', random)
  return deliveredPosition(organisation, person, 'R', random)
}

/** The payroll delivers a person under a wrong number, or corrects one: two identities turn out to be one person. */
export async function changePayroll(organisation: Organisation, random: Random): Promise<void> {
  const person = LEADER_COUNT + random.below(organisation.personCount - LEADER_COUNT)
  const [own, wrong] = [ninOf(person), payrollNinOf(person)]
  await organisation.locks.run([own, wrong], async () => {
    const { people } = organisation.model
    const delivered = people.find('payroll', 'identity', `X${person}`)
    if (delivered === undefined) {
      await importItems(organisation, 'payroll', [payrollItem(organisation, person, wrong)])
      return
    }
    const isDue = delivered.nin === wrong && people.identities().has(own) && !organisation.changedNins.has(own)
    if (!isDue || !random.percent(30)) return
    const coreIds = [await coreIdOf(organisation, own), await coreIdOf(organisation, wrong)]
    await importItems(organisation, 'payroll', [payrollItem(organisation, person, own)])
    organisation.formerCoreIds.set(
      own,
      coreIds.filter((id) => id !== undefined),
    )
    organisation.coreIds.delete(own)
    for (const nin of [own, wrong]) organisation.changedNins.add(nin)
  })
}

/** Renames or moves an org unit, which concerns everyone there. */
export async function changeUnit(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const item = unitItem(organisation, random.below(organisation.unitCount), random)
    await importItems(organisation, 'hr', [item])
  })
}
