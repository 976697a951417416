import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConnectorObject, StoredConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import { toldApart } from '../../../shared/domain/connectors/told-apart.ts'

type Contribution = Pick<ConnectorObject, 'coreObjectId' | 'data' | 'conflictKeys' | 'deletedAtMs'> & {
  readonly lastUpdatedS: number
}

const NOW_MS = Date.parse('2030-03-15T08:00:00Z')
const nowMs = () => NOW_MS

const of = (coreObjectId: string, data: ConnectorObject['data'] = {}, conflictKeys?: readonly string[]) => ({
  ...{ coreObjectId, data, lastUpdatedS: NOW_MS / 1000 - 60 },
  ...(conflictKeys && { conflictKeys }),
})

async function areApart(...contributions: readonly Contribution[]): Promise<boolean> {
  const ofCoreObjects = async (_tenantId: string, ids: readonly string[]) =>
    contributions
      .filter(({ coreObjectId }) => ids.includes(coreObjectId))
      .map((value) => ({ value: value as StoredConnectorObject, version: '1' }))
  const areTwoPeople = await toldApart('tenant', ['ada', 'bo', 'ada', 'job'], { objects: { ofCoreObjects }, nowMs })
  return areTwoPeople('ada', 'bo', 'job')
}

describe('Two identities', () => {
  it('are two people when no join key leaves it open', async () => {
    assert.equal(await areApart(of('ada', { nin: '1' }), of('bo', { nin: '2' })), true)
    assert.equal(await areApart(of('ada', {}, ['nin 1']), of('bo', {}, ['nin 2'])), true)
    assert.equal(await areApart(of('ada', {}, ['nin 1']), of('bo')), true)
  })

  it('may be one while any of their data share a join key in conflict', async () => {
    const shared = ['email x', 'nin 1']
    assert.equal(await areApart(of('ada', { nin: '1' }, ['nin 1']), of('bo', { nin: '1' }, shared)), false)
    assert.equal(await areApart(of('ada'), of('ada', {}, shared), of('bo'), of('bo', {}, ['nin 1'])), false)
  })

  it('are two people when both have been the same for a week, as colleagues who share an address', async () => {
    const changed = (at: string) => ({ lastUpdatedS: Date.parse(at) / 1000 })
    const [ada, bo] = [of('ada', {}, ['email x']), of('bo', {}, ['email x'])]
    const old = { ...ada, ...changed('2027-01-01T00:00:00Z') }
    assert.equal(await areApart(old, { ...bo, ...changed('2030-03-08T08:00:00Z') }), true)
    assert.equal(await areApart(old, { ...bo, ...changed('2030-03-08T08:00:01Z') }), false)
    assert.equal(
      await areApart({ ...ada, ...changed('2030-03-08T08:00:01Z') }, { ...bo, lastUpdatedS: old.lastUpdatedS }),
      false,
    )
  })

  it('may be one for a week after one of them got the position of the other, for four weeks at most', async () => {
    const at = (contribution: Contribution, time: string) => ({
      ...contribution,
      lastUpdatedS: Date.parse(time) / 1000,
    })
    const bo = at(of('bo', {}, ['email x']), '2029-01-01T00:00:00Z')
    const ada = at(of('ada', {}, ['email x']), '2030-02-15T08:00:01Z')
    const job = (time: string) => at(of('job'), time)
    assert.equal(await areApart(ada, bo, job('2030-03-08T08:00:01Z')), false)
    assert.equal(await areApart(ada, bo, job('2030-03-08T08:00:00Z')), true)
    assert.equal(await areApart(at(ada, '2030-02-15T08:00:00Z'), bo, job('2030-03-15T08:00:00Z')), true)
    assert.equal(await areApart(of('ada'), of('bo'), job('2030-03-15T08:00:00Z')), true)
  })

  it('may be one however long they share what colleagues do not', async () => {
    for (const key of ['nin 1', 'directoryObjectId x', 'employeeNumber 1']) {
      const [ada, bo] = [of('ada', {}, ['email x', key]), of('bo', {}, ['email x', key])]
      assert.equal(await areApart({ ...ada, lastUpdatedS: 0 }, { ...bo, lastUpdatedS: 0 }), false)
    }
  })

  it('are two people with different national identity numbers, whichever other key they share', async () => {
    const shared = ['directoryObjectId x']
    assert.equal(await areApart(of('ada', { nin: '1' }, shared), of('bo', { nin: '2' }, shared)), true)
  })

  it('may be one while only one of them has live data', async () => {
    assert.equal(await areApart(of('ada')), false)
    assert.equal(await areApart({ ...of('ada'), deletedAtMs: 1 }, of('bo')), false)
    assert.equal(await areApart({ ...of('ada'), deletedAtMs: 1 }), true)
  })

  it('are read a thousand at a time', async () => {
    const counts: number[] = []
    const ofCoreObjects = async (_tenantId: string, ids: readonly string[]) => {
      counts.push(ids.length)
      return []
    }
    await toldApart('tenant', [...Array(2_500).keys(), 0].map(String), { objects: { ofCoreObjects }, nowMs })
    assert.deepEqual(counts, [1_000, 1_000, 500])
  })
})
