import type { RefusalCode } from '../../../../shared/kernel/refusal-register.ts'
import { user, users } from '../../jobs/link-directory.ts'
import { setLinkSettings } from '../../jobs/link-fixture.ts'
import { type LinkApi, UNKNOWN_ID } from '../link-api.ts'
import { type Provocation, provoked } from './provocation.ts'

/** Refusals of group links and sync jobs. */
export function linkProvocations(api: LinkApi) {
  const call = async (method: string, path: string, body?: object) => provoked(await api.call(method, path, body))
  const link = (collectionId: string, directoryGroupId: string) =>
    call('POST', '/group-links', { collectionId, directoryGroupId })
  const people = () => api.collections.make(users(0, 3))
  const linked = async () => {
    const [collectionId, groupId] = [people(), await api.newGroup()]
    return { collectionId, groupId, id: await api.create(collectionId, groupId) }
  }
  const approve = async (linkId: string, planId: string) =>
    provoked(await api.as('administrator')('POST', `/group-links/${linkId}/removal-plan/${planId}/approve`, {}))
  const groupWith = (properties: Record<string, unknown>) => async () => {
    const groupId = await api.newGroup()
    return api.withProperties(groupId, properties, () => link(people(), groupId))
  }
  return {
    LinkNotFound: () => call('GET', `/group-links/${UNKNOWN_ID}`),
    SyncJobNotFound: () => call('GET', `/sync-jobs/${UNKNOWN_ID}`),
    async LinkDisabled() {
      const { collectionId, id } = await linked()
      await call('PATCH', `/group-links/${id}`, { state: 'Disabled' })
      return call('POST', `/group-links/${collectionId}/sync`)
    },
    async GroupAlreadyLinked() {
      return link(people(), (await linked()).groupId)
    },
    ObjectTypeNotLinkable: () => link(api.collections.make([], 'OrgUnit'), UNKNOWN_ID),
    async CollectionNotVerified() {
      api.collections.failing = true
      const answer = await link(UNKNOWN_ID, UNKNOWN_ID)
      api.collections.failing = false
      return answer
    },
    GroupNotFound: () => link(people(), UNKNOWN_ID),
    GroupMembershipIsDynamic: groupWith({ groupTypes: ['DynamicMembership'], membershipRule: 'x' }),
    GroupIsMailEnabled: groupWith({ mailEnabled: true }),
    GroupIsSyncedFromOnPremises: groupWith({ onPremisesSyncEnabled: true }),
    GroupIsRoleAssignable: groupWith({ isAssignableToRole: true }),
    GroupHasHiddenMembership: groupWith({ visibility: 'HiddenMembership' }),
    GroupManagementIsRestricted: groupWith({ isManagementRestricted: true }),
    async GroupNotOwned() {
      await setLinkSettings(api.deps, { linkableGroups: 'Owned' })
      const answer = await link(people(), await api.newGroup())
      await setLinkSettings(api.deps, { linkableGroups: 'Any' })
      return answer
    },
    async PlanNotFound() {
      return call('GET', `/group-links/${(await linked()).id}/removal-plan`)
    },
    async PlanChanged() {
      const { collectionId, id } = await linked()
      await setLinkSettings(api.deps, { removalGuard: { enabled: true, minimum: 0 } })
      await api.drain()
      api.collections.exchange(collectionId, [])
      await call('POST', `/group-links/${collectionId}/sync`)
      await api.drain()
      await setLinkSettings(api.deps, { removalGuard: { enabled: false } })
      return approve(id, UNKNOWN_ID)
    },
    async SameActor() {
      const { collectionId, id } = await linked()
      await setLinkSettings(api.deps, { removalGuard: { enabled: true, minimum: 0, fourEyes: true } })
      const { removalCauses } = api.collections
      api.collections.removalCauses = async () => ({
        newest: null,
        actorIds: [user(0)],
        explainsAll: true,
        definedBy: null,
      })
      await api.drain()
      api.collections.exchange(collectionId, [])
      await call('POST', `/group-links/${collectionId}/sync`)
      await api.drain()
      api.collections.removalCauses = removalCauses
      const planId = (await api.link(id)).heldRemovals?.planId
      const answer = await approve(id, planId ?? '')
      await setLinkSettings(api.deps, { removalGuard: { enabled: false, fourEyes: false } })
      return answer
    },
    async GroupNotVerified() {
      const groupId = await api.newGroup()
      api.server.setFaults([{ method: 'GET', status: 500 }])
      const answer = await link(people(), groupId)
      api.server.setFaults([])
      return answer
    },
    async StaleVersion() {
      const { id } = await linked()
      const { links } = api.deps
      const { find } = links
      // Another writer is faster every time.
      links.find = async (tenantId, linkId) => {
        const found = await find(tenantId, linkId)
        if (found !== undefined) await links.replace(found.value, found.version)
        return found
      }
      const answer = await call('PATCH', `/group-links/${id}`, { state: 'Disabled' })
      links.find = find
      return answer
    },
  } satisfies Partial<Record<RefusalCode, Provocation>>
}
