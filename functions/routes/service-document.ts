import { CollectionRecord, CollectionResults } from '../../shared/domain/collections/collection.ts'
import { CriteriaCollectionRecord } from '../../shared/domain/collections/criteria-collection.ts'
import { PreviewReply } from '../../shared/domain/collections/preview.ts'
import { TenantSchemas } from '../../shared/domain/collections/tenant-schemas.ts'
import { Connector } from '../../shared/domain/connectors/connector.ts'
import { ConnectorObjectRecord } from '../../shared/domain/connectors/connector-object.ts'
import { Guid } from '../../shared/domain/guid.ts'
import { GroupLink } from '../../shared/domain/links/group-link.ts'
import { LinkPreview } from '../../shared/domain/links/preview-link.ts'
import { SyncJob } from '../../shared/domain/links/sync-job.ts'
import { JoinPolicyInput, JoinPolicyRecord } from '../../shared/domain/requests/join-policy.ts'
import { JoinableCollectionRecord } from '../../shared/domain/requests/joinable-collection.ts'
import { MembershipRequestRecord } from '../../shared/domain/requests/membership-request.ts'
import { Timestamp } from '../../shared/domain/timestamp.ts'
import { type ApiDescription, apiDocument } from '../../shared/http/api-document.ts'
import { describedRoutes } from './all-routes.ts'
import { CORE_OBJECT_RECORDS } from './core-objects.ts'

const DESCRIPTION: Omit<ApiDescription, 'groups'> = {
  version: 'beta',
  tags: {
    'collections/beta': 'Collections',
    'collections-criteria/beta': 'Criteria collections',
    'collections-joinable/beta': 'Joinable collections and membership requests',
    'group-link/beta': 'Group links',
    'iamcore/beta/sync/coreobjects': 'Core objects',
    'iamcore/beta/sync/connectors': 'Connectors',
    'iamcore/sync/connectors': 'Connectors',
  },
  schemas: {
    Guid,
    Timestamp,
    Collection: CollectionRecord,
    CollectionResults,
    CriteriaCollection: CriteriaCollectionRecord,
    CriteriaPreview: PreviewReply,
    TenantSchemas,
    JoinableCollection: JoinableCollectionRecord,
    JoinPolicy: JoinPolicyRecord,
    JoinPolicyInput,
    MembershipRequest: MembershipRequestRecord,
    GroupLink,
    GroupLinkPreview: LinkPreview,
    SyncJob,
    Identity: CORE_OBJECT_RECORDS.identity,
    OrgUnit: CORE_OBJECT_RECORDS.orgUnit,
    Relationship: CORE_OBJECT_RECORDS.relationship,
    Connector,
    ConnectorObject: ConnectorObjectRecord,
  },
}

/** The description of the whole API, OpenAPI 3.1. */
export function serviceDocument(): object {
  return apiDocument({ ...DESCRIPTION, groups: describedRoutes() })
}
