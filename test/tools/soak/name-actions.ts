import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { apply, countOutcome, type Organisation } from './organisation.ts'
import { importItems, sendItems } from './people-actions.ts'
import { referredId } from './people-model.ts'
import { pickOf } from './picks.ts'
import {
  accountItem,
  deliveredPosition,
  identityItem,
  isBoundByAccounts,
  isLeader,
  ninOf,
  type SourceItem,
  unitItem,
} from './source-items.ts'

/** A source gives a person, a position or an org unit another external id. */
export async function changeName(organisation: Organisation, random: Random): Promise<void> {
  const { locks, personCount, unitCount } = organisation
  if (random.percent(15)) {
    const unit = random.below(unitCount)
    // Positions, and other units, name it.
    await locks.runAlone(() => rename(organisation, `U${unit}`, unitItem(organisation, unit, random)))
    return
  }
  const person = random.below(personCount)
  const work = () => changeNameOf(organisation, person, random)
  // Positions and org units name leaders as their managers.
  await (isLeader(ninOf(person)) ? locks.runAlone(work) : locks.run([ninOf(person)], work))
}

async function changeNameOf(organisation: Organisation, person: number, random: Random): Promise<void> {
  const { people } = organisation.model
  const { names } = organisation
  const isEmployed = people.find('hr', 'identity', names.of(`P${person}`)) !== undefined
  if (!isEmployed) {
    // Nothing tells any more that another name is the same person.
    const isErased = organisation.erasedNins.has(ninOf(person))
    if (!isErased && !isLeader(ninOf(person))) await hireUnderNextName(organisation, person, random)
    return
  }
  const letter = pickOf(random, ['P', 'P', 'P', 'A', 'R', 'S'] as const)
  if (letter === 'R' || letter === 'S') {
    for (const item of deliveredPosition(organisation, person, letter, random)) {
      await rename(organisation, `${letter}${person}`, item)
    }
    return
  }
  const isBound = isBoundByAccounts(person) && people.find('accounts', 'identity', names.of(`A${person}`)) !== undefined
  if (letter === 'A' && !isBound) return
  const itemOf = () => (letter === 'P' ? identityItem(organisation, person, random) : accountItem(organisation, person))
  if (random.percent(40)) await rename(organisation, `${letter}${person}`, itemOf())
  else await replaceAtOnce(organisation, `${letter}${person}`, itemOf, random)
}

/** @param item Of the object under its former name, or of one that was deleted. */
async function rename(organisation: Organisation, first: string, item: SourceItem): Promise<void> {
  const { former, name } = organisation.names.change(first)
  const source = first.startsWith('A') ? 'accounts' : 'hr'
  await importItems(organisation, source, [{ ...item, externalId: name, previousExternalId: former }])
  countOutcome(organisation, `renamed ${first.charAt(0)}`)
}

/** A person who had left comes back under another external id, which the source says is a rename, or not. */
async function hireUnderNextName(organisation: Organisation, person: number, random: Random): Promise<void> {
  const { former } = organisation.names.change(`P${person}`)
  const item = identityItem(organisation, person, random)
  const isRename = random.percent(30)
  const positions = deliveredPosition(organisation, person, 'R', random)
  await importItems(organisation, 'hr', [isRename ? { ...item, previousExternalId: former } : item, ...positions])
  countOutcome(organisation, isRename ? 'hired again, renamed' : 'hired again under another name')
}

/** One batch deletes an identity and makes the same person under another external id, in either order. */
async function replaceAtOnce(
  organisation: Organisation,
  first: string,
  itemOf: () => SourceItem,
  random: Random,
): Promise<void> {
  const { model, recentChanges } = organisation
  const source = first.startsWith('A') ? 'accounts' : 'hr'
  const { former, name } = organisation.names.change(first)
  const deleted: SourceItem = { objectType: 'identity', externalId: former }
  const item = itemOf()
  // A card keeps its holder by what both have.
  const hasKeys = item.data?.employeeNumber !== undefined
  const made = hasKeys ? { ...item, data: model.people.find(source, 'identity', former) ?? {} } : item
  const positions: SourceItem[] = [...model.people.objects(source, 'relationship')].flatMap(([externalId, data]) =>
    referredId(data.identity) === former
      ? [{ objectType: 'relationship', externalId, data: { ...data, identity: { externalId: name } } }]
      : [],
  )
  const isDeletedFirst = random.percent(50)
  const pair = isDeletedFirst ? [deleted, made] : [made, deleted]
  const items = random.percent(50) ? [...pair, ...positions] : [...positions, ...pair]
  await sendItems(organisation, source, items)
  recentChanges.note(String(made.data?.nin))
  // The person is there all along.
  apply(organisation, () => {
    for (const { objectType, externalId, data } of items) model.people.write(source, objectType, externalId, data)
  })
  countOutcome(organisation, `re-keyed ${first.charAt(0)}, ${isDeletedFirst ? 'deleted' : 'made'} first`)
}
