import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { schemaName } from '../../../shared/domain/core/attribute-names.ts'
import { conditionSchema, schemaSource } from '../../../shared/domain/criteria/schema.ts'

const SCHEMA = conditionSchema({ identity: ['custom/license_plate'], orgUnit: [], relationship: ['custom/Shift'] })

describe('The schema of conditions', () => {
  for (const [name, type] of [
    ['identityId', 'Guid'],
    ['identityExternalId', 'String'],
    ['identityAnchor9', 'String'],
    ['identityDisplayName', 'String'],
    ['identityDirectoryObjectId', 'Guid'],
    ['identityDirectoryOnPremisesSyncEnabled', 'Boolean'],
    ['identityPrimaryRelationship', 'Guid'],
    ['identityCustom/license_plate', 'String'],
    ['directMemberOfDirectoryGroups', 'List'],
    ['assignedLicenses', 'List'],
    ['memberOfCollection', 'Guid'],
    ['relationshipStartDate', 'DateTime'],
    ['relationshipOrgUnit', 'Guid'],
    ['relationshipCustom/Shift', 'String'],
    ['orgUnitId', 'Guid'],
    ['orgUnitDeputies', 'List'],
    ['relationshipCustom/license_plate', undefined],
    ['identityAssignedLicenses', undefined],
    ['identityLastUpdated', undefined],
    ['orgUnitTitle', undefined],
    ['displayName', undefined],
  ] as const) {
    it(type === undefined ? `has no ${name}` : `has ${name} as ${type}`, () => assert.equal(SCHEMA.get(name), type))
  }

  it('resolves every name to its source and back', () => {
    for (const name of SCHEMA.keys()) {
      const source = schemaSource(name)
      if (name === 'memberOfCollection') assert.deepEqual(source, { kind: 'collections' })
      else if (source?.kind === 'computed') assert.ok(source.name === name && name.startsWith(source.objectType))
      else assert.equal(source?.kind === 'attribute' && schemaName(source.objectType, source.attribute), name)
    }
    assert.deepEqual(schemaSource('relationshipCustom/Shift'), {
      kind: 'attribute',
      objectType: 'relationship',
      attribute: 'custom/Shift',
    })
    for (const name of ['', 'identity', 'identityCustom/', 'identityid', 'x', '__proto__', 'orgUnit__proto__']) {
      assert.equal(schemaSource(name), undefined)
    }
  })
})
