import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KnownUsers } from '../../shared/graph/known-users.ts'
import { SMALL_TENANT, TENANT, users } from '../support/jobs/link-directory.ts'

describe('Accounts that were found to be users', () => {
  it('are known in their tenant only', () => {
    const known = new KnownUsers()
    known.remember(TENANT, users(0, 2))
    assert.deepEqual(known.unknownAmong(TENANT, users(0, 3)), users(2, 1))
    assert.deepEqual(known.unknownAmong(SMALL_TENANT, users(0, 3)), users(0, 3))
  })

  it('are forgotten in all tenants when they become too many', () => {
    const known = new KnownUsers()
    known.remember(SMALL_TENANT, users(0, 1))
    known.remember(TENANT, users(0, 50_000))
    assert.deepEqual(known.unknownAmong(SMALL_TENANT, users(0, 1)), users(0, 1))
    assert.deepEqual(known.unknownAmong(TENANT, users(0, 50_001)), users(50_000, 1))
  })
})
