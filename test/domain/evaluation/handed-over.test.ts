import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { ACCOUNT_CHANGE_DELAY_MS } from '../../../shared/domain/core/core-object-store.ts'
import { type HandedOverDependencies, handedOver } from '../../../shared/domain/evaluation/handed-over.ts'
import type { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

it('Positions are looked at that may have changed hands before the last evaluation, and become known after it', async () => {
  const coveredAtMs = Date.parse('2030-01-01T08:00:00Z')
  const asked: unknown[] = []
  const amongSince = async (...args: unknown[]) => {
    asked.push(args)
    return []
  }
  const collection = { tenantId: 't', id: 'choir', kind: 'criteria', objectType: 'Relationship' } as Collection
  const deps = { accountChanges: { amongSince } } as unknown as HandedOverDependencies
  await handedOver(collection, { ids: ['post'], coveredAtMs }, {} as RowSnapshot, deps)
  assert.deepEqual(asked, [['t', ['post'], coveredAtMs - ACCOUNT_CHANGE_DELAY_MS]])
})
