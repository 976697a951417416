import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { TRACKED_TOGETHER_COUNT } from '../../domain/group-links/directory.ts'
import { FIRST_SET_ID, type TrackedGroups, type TrackedGroupsStore } from '../../domain/sync/tracked-groups.ts'
import { packedGuids, unpackedGuids } from '../../kernel/packed-guids.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { ifVersion, queryAll, readDocument, refuse, saveCurrent } from '../documents.ts'

const TrackedGroupsDocument = Type.Object({
  id: Type.String(),
  tenantId: Type.String(),
  trackedGroups: Type.Object({
    packedIds: Type.String(),
    /** In the order of the ids. */
    changedAtMs: Type.Unsafe<readonly number[]>(Type.Array(Type.Number())),
    /** In the same order; absent when no group has any. */
    packedSeenAdditions: Type.Optional(Type.Array(Type.String())),
    continueAfter: Type.Union([Type.String(), Type.Null()]),
  }),
  isTracking: Type.Boolean(),
  savedAtMs: Type.Number(),
})

const { parse } = versionedDocumentParser('set of tracked groups', TrackedGroupsDocument)

const CONFLICT = { 404: 'StaleVersion', 412: 'StaleVersion' } as const

/** Container `tenants`: documents in the partition of each tenant. */
export function cosmosTrackedGroupsStore(tenants: Container): TrackedGroupsStore {
  return {
    async ofTenant(tenantId, groupCount) {
      const query = { query: 'SELECT * FROM c WHERE IS_DEFINED(c.isTracking)' }
      const found =
        groupCount <= TRACKED_TOGETHER_COUNT
          ? [await readDocument(tenants, FIRST_SET_ID, tenantId)].filter((first) => first !== undefined)
          : await queryAll<unknown>(tenants, tenantId, query)
      return found.map(parse).map(({ value: { id, trackedGroups, isTracking, savedAtMs }, version }) => {
        const { packedIds, changedAtMs, packedSeenAdditions = [], continueAfter } = trackedGroups
        const groups = unpackedGuids(packedIds).map((groupId, index) => {
          const seenAdditions = unpackedGuids(packedSeenAdditions[index] ?? '')
          return { groupId, changedAtMs: changedAtMs[index] ?? savedAtMs, seenAdditions }
        })
        return { value: { id, groups, continueAfter, isTracking, savedAtMs }, version }
      })
    },
    async save(tenantId, tracked, version) {
      await saveCurrent(tenants, tenantId, documentOf(tenantId, tracked), version)
    },
    async remove(tenantId, id, version) {
      await tenants.item(id, tenantId).delete(ifVersion(version)).catch(refuse(CONFLICT))
    },
  }
}

function documentOf(tenantId: string, { id, groups, continueAfter, isTracking, savedAtMs }: TrackedGroups) {
  const packedIds = packedGuids(groups.map(({ groupId }) => groupId))
  const changedAtMs = groups.map((group) => group.changedAtMs)
  const seen = groups.map(({ seenAdditions }) => packedGuids(seenAdditions))
  const hasSeen = seen.some((packed) => packed !== '')
  const trackedGroups = { packedIds, changedAtMs, continueAfter, ...(hasSeen && { packedSeenAdditions: seen }) }
  return { id, tenantId, trackedGroups, isTracking, savedAtMs }
}
