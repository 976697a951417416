import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorRules } from '../../../shared/domain/connectors/connector-rules.ts'
import { movedContributors } from '../../../shared/domain/connectors/contributions.ts'
import type { MergedCoreObject } from '../../../shared/domain/connectors/merged-core-object.ts'

const rules = { supplements: (connectorId: string) => connectorId === 'phones' } as unknown as ConnectorRules
const left = { id: 'left', contributors: ['phone', 'record'] } as unknown as MergedCoreObject
const object = (id: string, connectorId: string, more: Partial<ConnectorObject>) =>
  [id, { id, connectorId, coreObjectId: 'left', ...more } as ConnectorObject] as const

it('A person goes where the identity goes that carried them, and not where one goes that supplements them', () => {
  const phone = object('phone', 'phones', { coreObjectId: 'stranger' })
  const moved = new Map([phone, object('record', 'hr', { coreObjectId: 'survivor' })])
  const deleted = new Map([phone, object('record', 'hr', { deletedAtMs: Date.parse('2030-01-01T00:00:00Z') })])
  assert.deepEqual([...movedContributors([left], moved, rules)], [['left', 'survivor']])
  assert.deepEqual([...movedContributors([left], deleted, rules)], [])
})
