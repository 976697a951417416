import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { apply, CONNECTORS_PATH, countOutcome, expectStatus, type Organisation } from './organisation.ts'
import { importItems } from './people-actions.ts'
import { DEFAULT_RULES, type SourceName, type SourceRules } from './people-model.ts'
import { pickOf } from './picks.ts'
import { cardItem, hasCard, ninOf } from './source-items.ts'

const CARD_KEYS = [['employeeNumber'], ['email'], ['custom/badge', 'email'], DEFAULT_RULES.joinOn]
const HR_KEYS = [DEFAULT_RULES.joinOn, [...DEFAULT_RULES.joinOn, 'email']]

/** A card is delivered with other keys, or deleted. It is a person of its own unless it has a key of its holder. */
export async function changeCard(organisation: Organisation, random: Random): Promise<void> {
  const people = Array.from({ length: organisation.personCount }, (_, person) => person).filter(hasCard)
  const person = pickOf(random, people)
  await organisation.locks.run([ninOf(person)], async () => {
    const { names, model } = organisation
    const { data, ...item } = cardItem(organisation, person, random)
    const isThere = model.people.find('cards', 'identity', item.externalId) !== undefined
    // A deleted card that returns is its deleted holder when both were one person when it was deleted.
    if (!isThere && model.people.find('hr', 'identity', names.of(`P${person}`)) === undefined) return
    await importItems(organisation, 'cards', [isThere && random.percent(40) ? item : { ...item, data: data ?? {} }])
  })
}

/** Changes by which attributes identities join, how far a source is trusted, or whether it binds accounts. */
export async function changeSourceRules(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const source: SourceName = random.percent(75) ? 'cards' : 'hr'
    const rules = source === 'hr' ? { joinOn: pickOf(random, HR_KEYS) } : changedRules(organisation, random)
    const { callers, connectorIds, model, pendingChanges, changedNins } = organisation
    const path = `${CONNECTORS_PATH}/${connectorIds[source]}`
    await expectStatus(organisation, { token: callers.operator, method: 'PUT', path, body: rules }, 200)
    pendingChanges.add(source)
    const before = model.people.identities()
    apply(organisation, () => model.people.setRules(source, rules))
    const after = model.people.identities()
    // The service joins, splits and binds them within a minute.
    for (const nin of new Set([...before.keys(), ...after.keys()])) {
      const isSame = before.has(nin) === after.has(nin) && before.get(nin)?.account === after.get(nin)?.account
      if (!isSame) changedNins.add(nin)
    }
    countOutcome(organisation, `${source}: ${JSON.stringify(rules)}`)
  })
}

function changedRules({ model }: Organisation, random: Random): Partial<SourceRules> {
  const { authority, bindsAccounts } = model.people.rulesOf('cards')
  const chance = random.below(100)
  if (chance < 50) return { joinOn: pickOf(random, CARD_KEYS) }
  if (chance < 80) return { authority: authority === 'Full' ? 'Supplement' : 'Full' }
  return { bindsAccounts: !bindsAccounts }
}
