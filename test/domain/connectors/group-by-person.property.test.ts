import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import { rulesOf } from '../../../shared/domain/connectors/connector-rules.ts'
import { groupByPerson } from '../../../shared/domain/connectors/group-by-person.ts'
import { PeopleModel } from '../../support/contract/people-model.ts'

const CONNECTORS_COUNT = 3
const NAMES_COUNT = 3
const ACCOUNTS = ['0a0a0a0a-0000-4000-8000-000000000001', '0a0a0a0a-0000-4000-8000-000000000002']

type Data = Readonly<Record<string, string>>
type Settings = Pick<Connector, 'joinOn' | 'bindsAccounts' | 'authority'>
type Step =
  | { readonly kind: 'put'; readonly connector: number; readonly name: number; readonly data: Data }
  | { readonly kind: 'remove'; readonly connector: number; readonly name: number }
  | { readonly kind: 'change'; readonly connector: number; readonly settings: Settings }

const connector = fc.nat({ max: CONNECTORS_COUNT - 1 })
const name = fc.nat({ max: NAMES_COUNT - 1 })
const data: fc.Arbitrary<Data> = fc.record(
  {
    nin: fc.constantFrom('1', '2'),
    directoryObjectId: fc.constantFrom(...ACCOUNTS),
    email: fc.constantFrom('a', 'b'),
  },
  { requiredKeys: [] },
)
const settings: fc.Arbitrary<Settings> = fc.record({
  joinOn: fc.shuffledSubarray(['nin', 'directoryObjectId', 'email'], { minLength: 1 }),
  bindsAccounts: fc.boolean(),
  authority: fc.constantFrom('Full' as const, 'Full' as const, 'Supplement' as const),
})
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('put' as const), connector, name, data }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), connector, name }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), connector, settings }) },
  ),
  { minLength: 3, maxLength: 14 },
)

/** The oldest comes first. */
const connectorOf = (index: number, of: Settings) =>
  ({ ...of, id: `c${index}`, createdAt: `2030-01-0${index + 1}T00:00:00.000Z` }) as Connector

const modelOf = ({ authority, ...others }: Settings) => ({ ...others, supplements: authority === 'Supplement' })

const inSets = (people: readonly (readonly string[])[]): string[] =>
  people.map((person) => person.toSorted().join()).sort()

it('Identities are grouped as by a naive model, after any changes of them and of the connectors', () => {
  const everyone = fc.array(settings, { minLength: CONNECTORS_COUNT, maxLength: CONNECTORS_COUNT })
  const property = fc.property(everyone, steps, (initial, all) => {
    const connectors = initial.map((of, index) => connectorOf(index, of))
    const model = new PeopleModel(initial.map(modelOf))
    const identities = new Map<string, { id: string; connectorId: string; data: Data; coreObjectId?: string }>()
    for (const [index, step] of all.entries()) {
      if (step.kind === 'change') {
        connectors[step.connector] = connectorOf(step.connector, step.settings)
        model.change(step.connector, modelOf(step.settings))
      } else {
        const id = `${step.connector} ${step.name}`
        if (step.kind === 'put') {
          identities.set(id, { ...identities.get(id), id, connectorId: `c${step.connector}`, data: step.data })
          model.put({ id, connector: step.connector, data: step.data })
        } else if (identities.delete(id)) model.remove(id)
      }
      // In an order that says nothing of age.
      const given = [...identities.values()].sort((left, right) =>
        (left.id.at(-1) ?? '').localeCompare(right.id.at(-1) ?? ''),
      )
      const { people, unmatched } = groupByPerson(given, rulesOf(connectors))
      assert.deepEqual(inSets(people.map((person) => person.map(({ id }) => id))), inSets(model.people()))
      assert.equal(people.flat().length + unmatched.length, identities.size)
      for (const [place, person] of [...people, ...unmatched.map((one) => [one])].entries()) {
        for (const identity of person) identities.set(identity.id, { ...identity, coreObjectId: `${index} ${place}` })
      }
    }
  })
  fc.assert(property, { numRuns: 1500 })
})
