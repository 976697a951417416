import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  application,
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenantWithHr,
  remove,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const ACCOUNT = '0a0a0a0a-0000-4000-8000-00000000000a'
const OTHER_ACCOUNT = '0b0b0b0b-0000-4000-8000-00000000000b'
const CONFLICTS = `${CORE}/account-conflicts`

const service = await coreDataServiceOfTests()

async function hrAndDirectory() {
  const { tenant, hr } = await newTenantWithHr(service)
  const directory = await tenant.addConnector('Directory')
  const id = async (externalId: string): Promise<string> => (await tenant.byExternalId('identities', externalId)).id
  /** The account of each identity, by external id. */
  const accounts = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(
      (await tenant.all('identities')).map(({ externalId, directoryObjectId }) => [externalId, directoryObjectId]),
    )
  const conflicts = async (): Promise<Body> => (await tenant.admin('GET', CONFLICTS)).body.data
  /** Who the holder of an account is signed in as: first asked of the database, then of the rows in memory. */
  const signedInAs = async (account: string): Promise<(string | undefined)[]> => {
    const own = async () => {
      const { body } = await service.as(user(tenant.tenantId, account, 'User'))('GET', `${CORE}/identities`)
      return body.data[0]?.externalId
    }
    const asCold = await own()
    await service.loadRows(tenant.tenantId)
    return [asCold, await own()]
  }
  return { tenant, hr, directory, id, accounts, conflicts, signedInAs }
}

describe('two identities with one account', () => {
  it('leave it to the one that had it first, for signing in too, whichever has the lower id or the older connector', async () => {
    for (const [isHrFirst, holder, claimant] of [
      [true, 'h1', 'd1'],
      [false, 'd1', 'h1'],
    ] as const) {
      const { hr, directory, id, accounts, conflicts, signedInAs } = await hrAndDirectory()
      const writes = [
        () => hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT, displayName: 'Ada' })),
        () => directory.batch(upsert('identity', 'd1', { nin: '2', directoryObjectId: ACCOUNT, displayName: 'Bo' })),
      ]
      for (const write of isHrFirst ? writes : writes.toReversed()) await write()
      assert.deepEqual(await accounts(), { [holder]: ACCOUNT, [claimant]: undefined })
      assert.deepEqual(await signedInAs(ACCOUNT), [holder, holder])
      const [holderId, claimantId] = [await id(holder), await id(claimant)]
      assert.deepEqual(await conflicts(), [{ directoryObjectId: ACCOUNT, holderId, claimantIds: [claimantId] }])
      for (const write of writes) await write()
      assert.deepEqual(await accounts(), { [holder]: ACCOUNT, [claimant]: undefined })
    }
  })

  it('do not let a connector sign somebody in as another person, or push anybody out of an account', async () => {
    const { hr, directory, accounts, signedInAs } = await hrAndDirectory()
    await hr.batch(
      upsert('identity', 'victim', { nin: '1', directoryObjectId: ACCOUNT }),
      upsert('identity', 'other', { nin: '2' }),
      upsert('relationship', 'r1', { identity: to('victim') }),
    )
    await directory.batch(
      upsert('identity', 'd1', { nin: '2', directoryObjectId: ACCOUNT }),
      ...Array.from({ length: 20 }, (_, index) =>
        upsert('identity', `fresh ${index}`, { nin: `made up ${index}`, directoryObjectId: ACCOUNT }),
      ),
    )
    const held = Object.entries(await accounts()).filter(([, account]) => account !== undefined)
    assert.deepEqual(held, [['victim', ACCOUNT]])
    assert.deepEqual(await signedInAs(ACCOUNT), ['victim', 'victim'])
  })

  it('pass it on when the holder releases it, is deleted or merges: the oldest claim takes over', async () => {
    const { hr, directory, accounts, conflicts, signedInAs } = await hrAndDirectory()
    const person = (nin: string, directoryObjectId?: string) => ({
      nin,
      ...(directoryObjectId && { directoryObjectId }),
    })
    await hr.batch(upsert('identity', 'a', person('1', ACCOUNT)))
    await hr.batch(upsert('identity', 'b', person('2', ACCOUNT)))
    await hr.batch(upsert('identity', 'c', person('3', ACCOUNT)))
    await hr.batch(upsert('identity', 'a', person('1', OTHER_ACCOUNT)))
    assert.deepEqual(await accounts(), { a: OTHER_ACCOUNT, b: ACCOUNT, c: undefined })
    await hr.batch(remove('identity', 'b'))
    assert.deepEqual(await accounts(), { a: OTHER_ACCOUNT, c: ACCOUNT })
    assert.deepEqual(await conflicts(), [])
    assert.deepEqual(await signedInAs(ACCOUNT), ['c', 'c'])
    await hr.batch(upsert('identity', 'b', person('2', ACCOUNT)))
    assert.deepEqual(await accounts(), { a: OTHER_ACCOUNT, b: undefined, c: ACCOUNT })
    await hr.batch(upsert('identity', 'c', person('3', OTHER_ACCOUNT)), upsert('identity', 'a', person('1')))
    assert.deepEqual(await accounts(), { a: undefined, b: ACCOUNT, c: OTHER_ACCOUNT })
    // The two turn out to be one person: the account stays with it all the time.
    await directory.batch(upsert('identity', 'd', person('4', ACCOUNT)))
    await hr.batch(remove('identity', 'b'))
    await hr.batch(upsert('identity', 'e', person('4')))
    assert.deepEqual(await accounts(), { a: undefined, c: OTHER_ACCOUNT, e: ACCOUNT })
    assert.deepEqual(await conflicts(), [])
  })

  it('have one holder when several connectors claim it at the same time', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const { hr, directory, accounts, conflicts } = await hrAndDirectory()
      const nins = Array.from({ length: 10 }, (_, index) => String(index))
      await Promise.all(
        nins.flatMap((nin) => [
          hr.batch(upsert('identity', `h${nin}`, { nin: `h${nin}`, directoryObjectId: ACCOUNT })),
          directory.batch(upsert('identity', `d${nin}`, { nin: `d${nin}`, directoryObjectId: ACCOUNT })),
        ]),
      )
      const holders = Object.values(await accounts()).filter((account) => account !== undefined)
      assert.deepEqual(holders, [ACCOUNT])
      const [conflict, ...others] = await conflicts()
      assert.deepEqual([conflict.claimantIds.length, others.length], [19, 0])
    }
  })

  it('keep the account of the older connector when one person has two', async () => {
    const { hr, directory, accounts } = await hrAndDirectory()
    await directory.batch(upsert('identity', 'd1', { nin: '1', directoryObjectId: OTHER_ACCOUNT }))
    await hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }))
    assert.deepEqual(await accounts(), { h1: ACCOUNT })
  })

  it('come from no connector that binds no accounts: it neither joins by them nor assigns them', async () => {
    const { tenant, hr, accounts } = await hrAndDirectory()
    const payroll = await tenant.addConnector('Payroll', { bindsAccounts: false })
    await payroll.batch(
      upsert('identity', 'p1', { directoryObjectId: ACCOUNT }),
      upsert('identity', 'p2', { nin: '2', directoryObjectId: OTHER_ACCOUNT }),
    )
    await hr.batch(
      upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }),
      upsert('identity', 'h2', { nin: '2' }),
    )
    assert.deepEqual(await accounts(), { h1: ACCOUNT, h2: undefined, p1: undefined })
    const path = `${CONNECTORS}/${payroll.id}`
    assert.equal((await tenant.admin('PUT', path, { bindsAccounts: true })).body.data.bindsAccounts, true)
    await payroll.batch(
      upsert('identity', 'p1', { directoryObjectId: ACCOUNT }),
      upsert('identity', 'p2', { nin: '2', directoryObjectId: OTHER_ACCOUNT }),
    )
    assert.deepEqual(await accounts(), { h1: ACCOUNT, h2: OTHER_ACCOUNT })
    await tenant.admin('PUT', path, { bindsAccounts: false })
    await payroll.batch(
      upsert('identity', 'p1', { directoryObjectId: ACCOUNT }),
      upsert('identity', 'p2', { nin: '2', directoryObjectId: OTHER_ACCOUNT }),
    )
    assert.deepEqual(await accounts(), { h1: ACCOUNT, h2: undefined, p1: undefined })
  })

  it('are released soon after their connector binds none any more, without new data, and taken again', async () => {
    const { tenant, hr, accounts, signedInAs } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }))
    assert.deepEqual(await signedInAs(ACCOUNT), ['h1', 'h1'])
    const path = `${CONNECTORS}/${hr.id}`
    for (const [bindsAccounts, expected] of [
      [false, undefined],
      [true, 'h1'],
    ] as const) {
      assert.equal((await tenant.admin('PUT', path, { bindsAccounts })).status, 200)
      await service.audit()
      assert.deepEqual(await accounts(), { h1: expected && ACCOUNT })
      assert.deepEqual(await signedInAs(ACCOUNT), [expected, expected])
    }
  })

  it('join people no more once a connector binds none: they are split, and joined again, without new data', async () => {
    const { tenant, hr, accounts } = await hrAndDirectory()
    const payroll = await tenant.addConnector('Payroll', {})
    await hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }))
    await payroll.batch(upsert('identity', 'p1', { directoryObjectId: ACCOUNT, displayName: 'Payroll' }))
    assert.deepEqual(await accounts(), { h1: ACCOUNT })
    const path = `${CONNECTORS}/${payroll.id}`
    for (const [bindsAccounts, expected] of [
      [false, { h1: ACCOUNT, p1: undefined }],
      [true, { h1: ACCOUNT }],
    ] as const) {
      assert.equal((await tenant.admin('PUT', path, { bindsAccounts })).status, 200)
      await service.audit()
      assert.deepEqual(await accounts(), expected)
    }
  })

  it('are listed for readers of all core objects only', async () => {
    const { tenant } = await hrAndDirectory()
    for (const [caller, status] of [
      [user(tenant.tenantId, ACCOUNT, 'User'), 403],
      [application(tenant.tenantId, ACCOUNT, 'iam-core.connector-data.readwrite.self'), 403],
      [application(tenant.tenantId, ACCOUNT, 'iam-core.synchronization-configuration.read.all'), 200],
    ] as const) {
      assert.equal((await service.as(caller)('GET', CONFLICTS)).status, status)
    }
  })
})
