import type { Connector, ConnectorUpdate, NewConnector } from '../../../shared/domain/connectors/connector.ts'
import type { ConnectorObjectDto } from '../../../shared/domain/connectors/connector-object.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import {
  ACCOUNT_ID,
  CONNECTOR_CLIENT_ID,
  CONNECTOR_ID,
  CONNECTOR_OBJECT_ID,
  CREATED_AT,
  IDENTITY_ID,
  LAST_UPDATED,
  MANAGER_ID,
  ORG_UNIT_ID,
  RELATIONSHIP_ID,
  UPDATED_AT,
} from './example-ids.ts'

const IDENTITY: CoreObjectDto = {
  id: IDENTITY_ID,
  externalId: 'employee-4711',
  displayName: 'Kari Nordmann',
  firstName: 'Kari',
  lastName: 'Nordmann',
  email: 'kari.nordmann@example.org',
  directoryObjectId: ACCOUNT_ID,
  directoryUserPrincipalName: 'kari.nordmann@example.org',
  primaryRelationship: { objectId: RELATIONSHIP_ID },
  'custom/licence_plate': 'AB 12345',
  lastUpdated: LAST_UPDATED,
}

const ORG_UNIT: CoreObjectDto = {
  id: ORG_UNIT_ID,
  externalId: 'unit-12',
  displayName: 'Northern Nursing Home',
  type: 'Department',
  manager: { objectId: MANAGER_ID },
  lastUpdated: LAST_UPDATED,
}

const RELATIONSHIP: CoreObjectDto = {
  id: RELATIONSHIP_ID,
  externalId: 'position-4711-1',
  title: 'Nurse',
  employeeId: '4711',
  startDate: '2024-08-01',
  identity: { objectId: IDENTITY_ID },
  orgUnit: { objectId: ORG_UNIT_ID },
  lastUpdated: LAST_UPDATED,
}

const NEW_CONNECTOR: NewConnector = {
  name: 'Payroll',
  clientId: CONNECTOR_CLIENT_ID,
  softDeletionDays: 90,
  enabled: true,
}
const CONNECTOR_UPDATE: ConnectorUpdate = { enabled: false }
const CONNECTOR: Connector = {
  id: CONNECTOR_ID,
  name: 'Payroll',
  clientId: CONNECTOR_CLIENT_ID,
  softDeletionDays: 90,
  enabled: true,
  createdAt: CREATED_AT,
  createdBy: MANAGER_ID,
  updatedAt: UPDATED_AT,
}

const DATA = {
  title: 'Nurse',
  employeeId: '4711',
  startDate: '2024-08-01',
  identity: { externalId: 'employee-4711' },
  orgUnit: { externalId: 'unit-12' },
}
const NAMES = { externalId: 'position-4711-1', objectType: 'relationship' } as const
const CONNECTOR_OBJECT: ConnectorObjectDto = {
  id: CONNECTOR_OBJECT_ID,
  ...NAMES,
  data: DATA,
  coreObjectId: RELATIONSHIP_ID,
  lastUpdated: LAST_UPDATED,
}

/** Examples of core objects, connectors and their data, by the name of the schema. */
export const CORE_DATA_EXAMPLES = {
  Identity: IDENTITY,
  OrgUnit: ORG_UNIT,
  Relationship: RELATIONSHIP,
  Several: { ids: [IDENTITY_ID] },
  SeveralOrgUnits: { ids: [ORG_UNIT_ID], includeParents: true },
  Connector: CONNECTOR,
  NewConnector: NEW_CONNECTOR,
  ConnectorUpdate: CONNECTOR_UPDATE,
  ConnectorObject: CONNECTOR_OBJECT,
  NewConnectorObject: { ...NAMES, data: DATA },
  ConnectorObjectReplacement: { data: { ...DATA, title: 'Head Nurse' } },
  Batch: {
    items: [
      { op: 'upsert', ...NAMES, data: DATA },
      { op: 'delete', objectType: 'identity', externalId: 'employee-0815' },
    ],
  },
  BatchItemResult: { index: 0, status: 201, id: CONNECTOR_OBJECT_ID },
}

/** What these operations answer is not what the example of the schema shows. */
export const CORE_DATA_ANSWERS = {
  createConnector: CONNECTOR_ID,
  createConnectorObject: CONNECTOR_OBJECT_ID,
  updateConnector: { ...CONNECTOR, enabled: false },
}
