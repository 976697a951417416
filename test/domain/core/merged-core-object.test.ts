import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type Contribution,
  deletedCoreObject,
  isSameCoreObject,
  mergedCoreObject,
  withFormerState,
} from '../../../shared/domain/connectors/merged-core-object.ts'
import { normalisedText } from '../../../shared/kernel/normalised-text.ts'

const known: Record<string, string> = { o1: 'core-o1', p1: 'core-p1', p2: 'core-p2', twin: 'core-p2' }

function contribution(
  externalId: string,
  data: Contribution['data'],
  objectType: Contribution['objectType'] = 'identity',
) {
  const resolve = (name: string) =>
    ([data[name] ?? []].flat() as { externalId: string }[]).flatMap((reference) => known[reference.externalId] ?? [])
  return { connectorObjectId: `object-${externalId}`, objectType, externalId, data, resolve }
}

describe('merging contributions', () => {
  it('takes each attribute from the first contribution that has it', () => {
    const merged = mergedCoreObject('core', [
      contribution('a', { displayName: 'First', email: 'a@example.org' }),
      contribution('b', { displayName: 'Second', mobile: '2' }),
    ])
    assert.deepEqual(merged, {
      id: 'core',
      objectType: 'identity',
      externalId: 'a',
      attributes: { displayName: 'First', email: 'a@example.org', mobile: '2' },
      contributors: ['object-a', 'object-b'],
      deleted: false,
    })
  })

  it('keeps false and empty lists', () => {
    const { attributes } = mergedCoreObject('core', [
      contribution('a', { directoryOnPremisesSyncEnabled: false, assignedLicenses: [] }),
      contribution('b', { directoryOnPremisesSyncEnabled: true, assignedLicenses: ['x'] }),
    ])
    assert.deepEqual(attributes, { assignedLicenses: [], directoryOnPremisesSyncEnabled: false })
  })

  it('leaves out references to missing objects, and takes them from another contribution', () => {
    const { attributes } = mergedCoreObject('core', [
      contribution(
        'a',
        { parent: { externalId: 'gone' }, deputies: [{ externalId: 'gone' }, { externalId: 'p2' }] },
        'orgUnit',
      ),
      contribution('b', { parent: { externalId: 'o1' }, manager: { externalId: 'gone' } }, 'orgUnit'),
    ])
    assert.deepEqual(attributes, { deputies: [{ objectId: 'core-p2' }], parent: { objectId: 'core-o1' } })
  })

  it('refers once to an object that several references name', () => {
    const deputies = ['p2', 'p1', 'twin'].map((externalId) => ({ externalId }))
    const { attributes } = mergedCoreObject('core', [contribution('a', { deputies }, 'orgUnit')])
    assert.deepEqual(attributes.deputies, [{ objectId: 'core-p2' }, { objectId: 'core-p1' }])
  })

  for (const [name, change] of [
    ['deletion', { deleted: true }],
    ['object into which it was merged', { mergedInto: 'another' }],
    ['external id', { externalId: 'another' }],
    ['claimed account', { claimedAccount: 'another' }],
    ['contributors', { contributors: ['object-b'] }],
    ['attributes', { attributes: { displayName: 'Second' } }],
  ] as const) {
    it(`is another object with another ${name}`, () => {
      const merged = mergedCoreObject('core', [contribution('a', { displayName: 'First' })])
      assert.ok(isSameCoreObject(merged, { ...merged, attributes: { displayName: 'First' } }))
      assert.ok(!isSameCoreObject(merged, { ...merged, ...change }))
    })
  }

  it('keeps the last attributes of an object without contributions', () => {
    const merged = mergedCoreObject('core', [contribution('a', { displayName: 'First' })])
    const vanished = deletedCoreObject(merged, undefined)
    assert.deepEqual(vanished, { ...merged, contributors: [], deleted: true })
    assert.ok(!isSameCoreObject(merged, vanished))
  })

  it('stays restored through later writes, until it is deleted again', () => {
    const [nowMs, merged] = [Date.parse('2030-01-01T00:00:00Z'), mergedCoreObject('core', [contribution('a', {})])]
    const restored = withFormerState(merged, { ...merged, deleted: true }, nowMs)
    const written = withFormerState(merged, restored, nowMs)
    const deleted = withFormerState(deletedCoreObject(merged, undefined), written, nowMs)
    const states = [withFormerState(merged, merged, nowMs), restored, written, deleted]
    assert.deepEqual(
      states.map((state) => state.restored),
      [undefined, true, true, undefined],
    )
  })

  it('does not depend on the order of attributes', () => {
    const data = fc.dictionary(
      fc.constantFrom('displayName', 'email', 'mobile', 'title', 'custom/a', 'custom/b'),
      fc.string(),
    )
    fc.assert(
      fc.property(data, data, (left, right) => {
        const reversed = (given: object) => Object.fromEntries(Object.entries(given).reverse())
        const merged = mergedCoreObject('core', [contribution('a', left), contribution('b', right)])
        const again = mergedCoreObject('core', [contribution('a', reversed(left)), contribution('b', reversed(right))])
        assert.ok(isSameCoreObject(merged, again))
        for (const [name, value] of Object.entries(left)) {
          if (name !== 'title') assert.equal(merged.attributes[name], normalisedText(value))
        }
      }),
    )
  })
})
