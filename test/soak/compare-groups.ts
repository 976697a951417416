import type { MembershipChange } from '../../infra/local/directory/membership-changes.ts'
import { readGroup } from './directory-actions.ts'
import { differences, LINKS_PATH, type Organisation } from './organisation.ts'

type LinkRecord = {
  readonly id: string
  readonly collectionId: string
  readonly directoryGroupId: string
  readonly state: string
  readonly heldRemovals: unknown
}

/** Compares the links, and the groups in the directory, with the model. */
export async function compareGroups(
  organisation: Organisation,
  directoryUrl: string,
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
  for (const { id, heldRemovals } of records) {
    if (heldRemovals !== null) faults.push(`Link ${id} holds removals, and the guard is off`)
  }
  for (const [groupId, { accounts, missingCount }] of model.accountsOfGroups()) {
    const present = await readGroup(organisation, directoryUrl, groupId)
    const differing = [...accounts.symmetricDifference(present)]
    if (differing.length > 0 && !(missingCount > 0 && accounts.isSubsetOf(present))) {
      faults.push(...(await jobsOf(organisation, groupId)))
      faults.push(...writes.filter(isAbout(groupId, differing)).map((write) => `Written: ${JSON.stringify(write)}`))
    }
    const missing = [...accounts.difference(present)]
    const extra = [...present.difference(accounts)]
    if (missing.length > 0) faults.push(`Group ${groupId} lacks ${missing}`)
    // While a member has no account, nothing is removed.
    if (extra.length > 0 && missingCount === 0) faults.push(`Group ${groupId} has too many: ${extra}`)
  }
  return [...faults, ...(await openJobs(organisation))]
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
async function openJobs({ api, callers }: Organisation): Promise<string[]> {
  const faults: string[] = []
  for (const status of ['Queued', 'Running']) {
    const path = `${LINKS_PATH}/sync-jobs?status=${status}`
    const { data } = await api.call<{ id: string }[]>({ token: callers.writer, method: 'GET', path })
    faults.push(...data.map((job) => `A job is still ${status}: ${JSON.stringify(job)}`))
  }
  return faults
}
