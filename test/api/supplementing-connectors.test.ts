import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const ACCOUNT = '0a0a0a0a-0000-4000-8000-00000000000a'
const ATTACKER = '0a0a0a0a-0000-4000-8000-00000000000b'
const RUNS_COUNT = 20

const service = await coreDataServiceOfTests()

async function hrAndBadges(settings: object = { authority: 'Supplement' }) {
  const tenant = await newTenant(service)
  // Older than the HR system, so that age alone would give its attributes precedence.
  const badges = await tenant.addConnector('Badges', settings)
  const hr = await tenant.addConnector('HR')
  const records = async (): Promise<Body> => {
    const [identities, orgUnits, relationships] = await Promise.all(
      ['identities', 'orgunits', 'relationships'].map((type) => tenant.all(type)),
    )
    return { identities, orgUnits, relationships }
  }
  const setAuthority = async (authority: string) => {
    assert.equal((await tenant.admin('PUT', `${CONNECTORS}/${badges.id}`, { authority })).status, 200)
    await service.audit()
  }
  return { tenant, hr, badges, records, setAuthority }
}

const names = (identities: readonly Body[]): string[] => identities.map(({ externalId }) => externalId).sort()

describe('A connector that only supplements', () => {
  it('adds attributes to people of others and overrides none, whatever its age', async () => {
    const { tenant, hr, badges } = await hrAndBadges()
    await badges.batch(upsert('identity', 'b1', { nin: '1', displayName: 'Badge 1', 'custom/badge': '17' }))
    assert.deepEqual(await tenant.all('identities'), [])
    await hr.batch(upsert('identity', 'h1', { nin: '1', displayName: 'Ada' }))
    const [ada] = await tenant.all('identities')
    assert.deepEqual([ada.externalId, ada.displayName, ada['custom/badge']], ['h1', 'Ada', '17'])
    await badges.batch(upsert('identity', 'b1', { nin: '1', 'custom/badge': '18' }))
    assert.equal((await tenant.byExternalId('identities', 'h1'))['custom/badge'], '18')
    await badges.batch(remove('identity', 'b1'))
    assert.equal((await tenant.byExternalId('identities', 'h1'))['custom/badge'], undefined)
  })

  it('finds a person by the account, and binds none', async () => {
    const { tenant, hr, badges } = await hrAndBadges()
    await hr.batch(
      upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }),
      upsert('identity', 'h2', { nin: '2' }),
    )
    await badges.batch(
      upsert('identity', 'b1', { directoryObjectId: ACCOUNT, 'custom/badge': '1' }),
      upsert('identity', 'b2', { nin: '2', directoryObjectId: ATTACKER, 'custom/badge': '2' }),
    )
    const seen = (await tenant.all('identities')).map((each) => [
      each.externalId,
      each.directoryObjectId,
      each['custom/badge'],
    ])
    assert.deepEqual(seen.sort(), [
      ['h1', ACCOUNT, '1'],
      ['h2', undefined, '2'],
    ])
    assert.deepEqual((await tenant.admin('GET', `${CORE}/account-conflicts`)).body.data, [])
  })

  it('makes nobody the manager of another: the relationship is refused, and nobody sees more', async () => {
    const { tenant, hr, badges } = await hrAndBadges()
    await hr.batch(
      upsert('identity', 'victim', { nin: '1', displayName: 'Victim' }),
      upsert('identity', 'attacker', { nin: '2', directoryObjectId: ATTACKER }),
      upsert('relationship', 'job', { identity: to('victim') }),
    )
    const attacker = service.as(user(tenant.tenantId, ATTACKER, 'User'))
    const seen = async () => names((await attacker('GET', `${CORE}/identities`)).body.data)
    assert.deepEqual(await seen(), ['attacker'])
    const results = await badges.batch(
      upsert('identity', 'me', { nin: '2' }),
      upsert('identity', 'you', { nin: '1', primaryRelationship: to('lead') }),
      upsert('relationship', 'lead', { identity: to('you'), manager: to('me') }),
      upsert('orgUnit', 'unit', { manager: to('me') }),
    )
    assert.deepEqual(
      results.map(({ status, errors }) => [status, errors?.[0].code]),
      [
        [201, undefined],
        [201, undefined],
        [403, 'ConnectorSupplementsOnly'],
        [403, 'ConnectorSupplementsOnly'],
      ],
    )
    assert.deepEqual(await seen(), ['attacker'])
    await service.loadRows(tenant.tenantId)
    assert.deepEqual(await seen(), ['attacker'])
  })

  it('loses units, positions and people when its authority goes down, and has them again when it goes up', async () => {
    const { tenant, hr, badges, records, setAuthority } = await hrAndBadges({})
    await hr.batch(
      upsert('identity', 'h1', { nin: '1' }),
      upsert('identity', 'h2', { nin: '2', directoryObjectId: ACCOUNT }),
    )
    await badges.batch(
      upsert('identity', 'b1', { nin: '1', directoryObjectId: ATTACKER, displayName: 'Ada' }),
      upsert('identity', 'b3', { nin: '3' }),
      upsert('orgUnit', 'unit', { manager: to('b1') }),
      upsert('relationship', 'job', { identity: to('b1'), orgUnit: to('unit') }),
    )
    const before = await records()
    const shared = (await tenant.byExternalId('identities', 'b1')).id
    await setAuthority('Supplement')
    const after = await records()
    assert.deepEqual(names(after.identities), ['h1', 'h2'])
    assert.deepEqual([after.orgUnits, after.relationships], [[], []])
    const ada = await tenant.byExternalId('identities', 'h1')
    assert.deepEqual([ada.id, ada.displayName, ada.directoryObjectId], [shared, 'Ada', undefined])
    await setAuthority('Full')
    assert.deepEqual(withoutTimes(await records()), withoutTimes(before))
  })

  it('leaves the core object to those who carried it when its authority goes up and it joins them no more', async () => {
    const { tenant, hr, badges } = await hrAndBadges()
    await hr.batch(upsert('identity', 'h1', { directoryObjectId: ACCOUNT }))
    await badges.batch(upsert('identity', 'b1', { directoryObjectId: ACCOUNT }))
    const { id } = await tenant.byExternalId('identities', 'h1')
    const change = { authority: 'Full', bindsAccounts: false }
    assert.equal((await tenant.admin('PUT', `${CONNECTORS}/${badges.id}`, change)).status, 200)
    await service.audit()
    assert.equal((await tenant.byExternalId('identities', 'h1')).id, id)
    assert.notEqual((await tenant.byExternalId('identities', 'b1')).id, id)
  })

  it('changes no manager, position, account, visibility or existence of a person, whatever it sends', async () => {
    const name = fc.constantFrom('1', '2', '3')
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
    const account = name.map((digit) => `0a0a0a0a-0000-4000-8000-00000000000${digit}`)
    const person = fc.record({
      nin: maybe(name),
      directoryObjectId: maybe(account),
      email: maybe(name),
      displayName: maybe(name),
      primaryRelationship: maybe(name.map(to)),
    })
    const position = fc.record({
      identity: maybe(name.map(to)),
      manager: maybe(name.map(to)),
      orgUnit: maybe(name.map(to)),
    })
    const item = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(name, person).map(([id, data]) => upsert('identity', id, data)) },
      { weight: 1, arbitrary: name.map((id) => remove('identity', id)) },
      { weight: 1, arbitrary: fc.tuple(name, position).map(([id, data]) => upsert('relationship', id, data)) },
      { weight: 1, arbitrary: name.map((id) => upsert('orgUnit', id, { manager: to(id) })) },
    )
    const batches = fc.array(fc.uniqueArray(item, { minLength: 1, maxLength: 4, selector: keyOf }), {
      minLength: 1,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(batches, batches, batches, async (full, supplementing, later) => {
        const [quiet, other] = [await hrDirectoryAndBadges(), await hrDirectoryAndBadges()]
        for (const sources of [quiet, other]) await sources.send(full)
        const before = await essence(other)
        for (const items of supplementing) await other.badges.batch(...items)
        assert.deepEqual(await essence(other), before)
        // What it has sent also changes nothing of what the others send later.
        for (const sources of [quiet, other]) await sources.send(later)
        assert.deepEqual(await whoIsWho(other), await whoIsWho(quiet))
      }),
      { numRuns: RUNS_COUNT },
    )
  })
})

const keyOf = ({ objectType, externalId }: { objectType: string; externalId: string }) => `${objectType} ${externalId}`

/** Two systems that carry people, and one that supplements them. */
async function hrDirectoryAndBadges() {
  const sources = await hrAndBadges()
  const carriers = [sources.hr, await sources.tenant.addConnector('Directory')] as const
  const send = async (batches: readonly (readonly object[])[]) => {
    for (const [index, items] of batches.entries()) await carriers[index % 2]?.batch(...items)
  }
  return { ...sources, carriers, send }
}

type Sources = Awaited<ReturnType<typeof hrDirectoryAndBadges>>

/** The contributors of each core object that exists. */
async function whoIsWho({ tenant, carriers }: Sources): Promise<unknown> {
  const spaces = await Promise.all(carriers.map(({ send, data }) => send('GET', data)))
  const objects = spaces.flatMap(({ body }, index) =>
    body.data.map(({ coreObjectId, objectType, externalId }: Body) => ({
      coreObjectId,
      name: `${index} ${objectType} ${externalId}`,
    })),
  )
  const byCoreObject = Map.groupBy(objects, ({ coreObjectId }) => coreObjectId)
  const live = (await Promise.all(['identities', 'orgunits', 'relationships'].map((type) => tenant.all(type)))).flat()
  const people = live.map(({ id }) => (byCoreObject.get(id) ?? []).map(({ name }) => name).sort())
  return people.map((names) => names.join()).sort()
}

/** All that decides who exists, who is who, who leads and who sees whom. */
async function essence({ tenant }: Sources): Promise<unknown> {
  const identities = (await tenant.all('identities')).map(
    ({ id, externalId, directoryObjectId, primaryRelationship }) => ({
      id,
      externalId,
      directoryObjectId,
      primaryRelationship,
    }),
  )
  const others = (await Promise.all(['orgunits', 'relationships'].map((type) => tenant.all(type)))).flat()
  const accounts = identities.flatMap(({ directoryObjectId }) => directoryObjectId ?? []).sort()
  const seen = accounts.map(async (account) => {
    const send = service.as(user(tenant.tenantId, account, 'User'))
    const paths = ['identities', 'relationships', 'orgunits']
    const lists = await Promise.all(paths.map((path) => send('GET', `${CORE}/${path}`)))
    return lists.flatMap(({ body }) => body.data.map(({ id }: Body) => id)).sort()
  })
  const conflicts = (await tenant.admin('GET', `${CORE}/account-conflicts`)).body.data
  return { identities, others: withoutTimes(others), seen: await Promise.all(seen), conflicts }
}

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each) => (key === 'lastUpdated' ? undefined : each)))
