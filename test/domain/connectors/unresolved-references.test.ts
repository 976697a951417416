import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MergedCoreObject } from '../../../shared/domain/connectors/merged-core-object.ts'
import {
  applyUnresolved,
  type CountDependencies,
  UnresolvedChanges,
} from '../../../shared/domain/connectors/space-counts.ts'
import { type PlacedReference, withUnresolved } from '../../../shared/domain/connectors/unresolved-references.ts'

const deriveId = (...parts: string[]) => parts.join(' ')

describe('A reference to a deleted object', () => {
  it('stays known as one after that object has expired, and another one does not become one', () => {
    const object = { id: 'core', deleted: false } as MergedCoreObject
    const found = ['ada', 'bo'].map((reference) => ({
      ...{ connectorId: 'hr', externalId: 'nurse', attribute: 'manager', reference, pointer: '/data/manager' },
    })) as PlacedReference[]
    const [ada] = found
    const before = withUnresolved(object, undefined, [{ ...ada, isDeleted: true } as PlacedReference], deriveId)
    const { unresolved } = withUnresolved(object, before, found, deriveId)
    assert.deepEqual(
      unresolved?.map(({ reference, isDeleted }) => [reference, isDeleted]),
      [
        ['ada', true],
        ['bo', undefined],
      ],
    )
  })
})

describe('The counts of a connector that cannot be changed', () => {
  it('are forgotten rather than wrong, and those of others are changed', async () => {
    const calls: string[] = []
    const spaceCounts = {
      addUnresolved: async (_tenantId: string, connectorId: string, difference: number) => {
        if (connectorId === 'hr') throw new Error('The database is away')
        calls.push(`${connectorId} ${difference}`)
      },
      forget: async (_tenantId: string, connectorId: string) => void calls.push(`${connectorId} forgotten`),
    }
    const changes = new UnresolvedChanges()
    changes.add('hr', 1)
    changes.add('school', -2)
    const deps = { spaceCounts, log: { error: () => undefined } } as unknown as CountDependencies
    await applyUnresolved('t', changes, deps)
    assert.deepEqual(calls, ['hr forgotten', 'school -2'])
  })
})
