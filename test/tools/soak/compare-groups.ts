import { isDeepStrictEqual } from 'node:util'
import type { MembershipChange } from '../../../infra/local/directory/membership-changes.ts'
import { readGroup } from './directory-actions.ts'
import { differences, LINKS_PATH, type Organisation } from './organisation.ts'

type LinkRecord = {
  readonly id: string
  readonly collectionId: string
  readonly directoryGroupId: string
  readonly state: string
  readonly heldRemovals: HeldRemovals | null
}

type HeldRemovals = {
  readonly reason: string
  readonly count: number
  readonly limit: number
  readonly removedInWindow: number
  readonly groupSize: number
}

/** Compares the links, and the groups in the directory, with the model. */
export async function compareGroups(
  organisation: Organisation,
  writes: readonly MembershipChange[],
): Promise<string[]> {
  const { model, callers, api } = organisation
  const records = await api.list<LinkRecord>(callers.writer, `${LINKS_PATH}/group-links`)
  const found = new Map(
    records.map(({ id, collectionId, directoryGroupId: groupId, state }) => [
      id,
      { collectionId, groupId, isEnabled: state === 'Enabled' },
    ]),
  )
  const faults = differences('Link', model.links, found)
  for (const [groupId, { accounts, missingCount }] of model.accountsOfGroups()) {
    const present = await readGroup(organisation, groupId)
    const differing = [...accounts.symmetricDifference(present)]
    const mayHaveMore = missingCount > 0 || model.isGuarded
    if (differing.length > 0 && !(mayHaveMore && accounts.isSubsetOf(present))) {
      faults.push(...(await jobsOf(organisation, groupId)))
      faults.push(...writes.filter(isAbout(groupId, differing)).map((write) => `Written: ${JSON.stringify(write)}`))
    }
    const missing = [...accounts.difference(present)]
    const extra = [...present.difference(accounts)]
    if (missing.length > 0) faults.push(`Group ${groupId} lacks ${missing}`)
    // While a member has no account, nothing is removed.
    if (missingCount > 0) continue
    const link = records.find(({ directoryGroupId }) => directoryGroupId === groupId)
    if (link !== undefined) faults.push(...(await compareHeld(organisation, link, extra)))
  }
  return faults
}

/** What a group has too many is held by the guard, all of it, and for a reason. */
async function compareHeld(
  { model, api, callers }: Organisation,
  { id, directoryGroupId, heldRemovals: held }: LinkRecord,
  extra: readonly string[],
): Promise<string[]> {
  if (held === null) {
    return extra.length === 0 ? [] : [`Group ${directoryGroupId} has too many, and nothing is held: ${extra}`]
  }
  const described = `Link ${id} holds ${JSON.stringify(held)}`
  if (!model.isGuarded) return [`${described}, and the guard is off`]
  type Plan = { readonly accounts: readonly { readonly directoryObjectId: string }[] }
  const path = `${LINKS_PATH}/group-links/${id}/removal-plan?pageSize=5000`
  const { data, status } = await api.call<Plan>({ token: callers.writer, method: 'GET', path })
  const planned =
    status === 200 ? data.accounts.map(({ directoryObjectId }) => directoryObjectId) : [`status ${status}`]
  const { reason, count, limit, removedInWindow, groupSize } = held
  const faults: string[] = []
  if (!isDeepStrictEqual(planned.toSorted(), extra.toSorted()))
    faults.push(`${described}: ${planned}, due are ${extra}`)
  if (count !== extra.length) faults.push(`${described}, due are ${extra.length}`)
  if (limit !== Math.max(2, Math.floor(groupSize / 5))) faults.push(`${described}: the limit is wrong`)
  if (reason === 'TooMany' && removedInWindow + count <= limit) faults.push(`${described} without a reason`)
  return faults
}

const isAbout = (groupId: string, accounts: readonly string[]) => (write: MembershipChange) =>
  write.groupId === groupId && accounts.includes(write.memberId)

/** The link of a group and its last jobs, for a fault. */
async function jobsOf({ api, callers, model }: Organisation, groupId: string): Promise<string[]> {
  const [linkId, link] = [...model.links].find(([, each]) => each.groupId === groupId) ?? []
  const path = `${LINKS_PATH}/sync-jobs?linkId=${linkId}`
  const { data } = await api.call<object[]>({ token: callers.writer, method: 'GET', path })
  return [
    `Link ${linkId} of collection ${link?.collectionId}, group ${groupId}`,
    ...data.map((job) => `Job ${JSON.stringify(job)}`),
  ]
}

/** At a quiet point, no job waits or runs. */
export async function openJobs({ api, callers }: Organisation): Promise<string[]> {
  const faults: string[] = []
  for (const status of ['Queued', 'Running']) {
    const path = `${LINKS_PATH}/sync-jobs?status=${status}`
    const { data } = await api.call<{ id: string }[]>({ token: callers.writer, method: 'GET', path })
    faults.push(...data.map((job) => `A job is still ${status}: ${JSON.stringify(job)}`))
  }
  return faults
}
