import type { MemberDto } from '../../shared/domain/collections/list-members.ts'
import type { PersonDto } from '../../shared/domain/collections/list-people.ts'
import type { JobChangeDto } from '../../shared/domain/group-links/job-changes.ts'
import type { RemovalPlanDto } from '../../shared/domain/group-links/removal-plan.ts'
import type { Api, PageOf } from './api.ts'
import { t } from './language/texts.ts'

/** A person, position or unit in a list behind a number. Texts are ready to be shown. */
export type ListedPerson = {
  readonly key: string
  readonly name: string | null
  readonly title: string | null
  readonly unit: string | null
  readonly account: string | null
}

/** A list behind a number, page by page. The path identifies the list and carries the cursor. */
export type PeopleSource = {
  readonly path: string
  readonly read: (path: string, signal?: AbortSignal) => Promise<PageOf<ListedPerson>>
  /** The list ends after as many people, although more may belong to it. Undefined: it has all. */
  readonly limit?: number
}

type Loaded = { readonly loadedCount: number; readonly isComplete: boolean }

/**
 * How many people belong to a list, and whether it ends before the last of them. All loaded people are known better than
 * the number that opened the list.
 * @param count the number that opened the list.
 */
export function lengthOf({ limit = Infinity }: PeopleSource, { loadedCount, isComplete }: Loaded, count: number) {
  const hasAll = isComplete && loadedCount < limit
  const total = hasAll ? loadedCount : Math.max(count, loadedCount)
  return { total, isCutOff: total > limit }
}

/** Maximum number of ids in one request. */
const PEOPLE_PER_PAGE = 500

type PeopleIds = { readonly identityIds?: readonly string[]; readonly accounts?: readonly string[] }

/** What distinguishes people, by their ids or accounts: at most 1,000. */
export async function readPeople(api: Api, ids: PeopleIds, signal?: AbortSignal): Promise<readonly PersonDto[]> {
  if ((ids.identityIds ?? []).length + (ids.accounts ?? []).length === 0) return []
  return (await api.send<PersonDto[]>('POST', '/collections/beta/people', { body: ids, signal })).data
}

/** The people with these accounts; accounts that no identity has are listed as well. */
export function peopleOfAccounts(api: Api, accounts: readonly string[]): PeopleSource {
  return {
    path: 'accounts',
    read: (path, signal) => sliced(accounts, path, (page) => withPeople(api, page.map(accountRow), signal)),
  }
}

/** The people behind a number of a plan. @param question the plan's body, with the number. */
export function plannedPeople(api: Api, path: string, question: object): PeopleSource {
  return {
    path: `${path}/plan/members?pageSize=${PEOPLE_PER_PAGE}`,
    read: async (page, signal) => {
      const { data, nextCursor } = await api.send<MemberDto[]>('POST', page, { body: question, signal })
      return { items: await listedMembers(api, data, signal), nextCursor }
    },
  }
}

type Previewed = { readonly objectId: string; readonly displayName: string | null }
type PreviewList = 'preview' | 'added' | 'removed'

/** The most that a preview lists. */
const MAX_PREVIEWED = 10_000

/** The first people of a list of a preview. @param question the preview's body. */
export function peopleMatching(
  api: Api,
  question: { readonly preview: { readonly objectType: string; readonly condition: object } },
  list: PreviewList,
): PeopleSource {
  let matching: Promise<readonly Previewed[]> | undefined
  return {
    path: `${list} of a preview`,
    limit: MAX_PREVIEWED,
    read: async (path, signal) => {
      const body = { ...question, limit: MAX_PREVIEWED }
      matching ??= api
        .send<Record<PreviewList, Previewed[]>>('POST', '/collections-criteria/beta/preview', { body })
        .then(({ data }) => data[list])
        .catch((error: unknown) => {
          matching = undefined
          throw error
        })
      return sliced(await matching, path, async (page) => {
        const identityIds = question.preview.objectType === 'Identity' ? page.map(({ objectId }) => objectId) : []
        const people = new Map(
          (await readPeople(api, { identityIds }, signal)).map((person) => [person.identityId, person]),
        )
        return page.map(({ objectId, displayName }) => {
          const person = people.get(objectId)
          const named = { key: objectId, name: displayName, title: null, unit: null, account: null }
          return person === undefined ? named : listed(person)
        })
      })
    },
  }
}

/** The page of a list at hand that a path asks for. */
async function sliced<Item>(
  items: readonly Item[],
  path: string,
  toRows: (page: readonly Item[]) => Promise<readonly ListedPerson[]>,
): Promise<PageOf<ListedPerson>> {
  const from = Number(new URLSearchParams(path.split('?')[1]).get('nextCursor') ?? 0)
  const next = from + PEOPLE_PER_PAGE
  const rows = await toRows(items.slice(from, next))
  return { items: rows, nextCursor: next < items.length ? String(next) : undefined }
}

/** The accounts that a sync has added or removed. */
export function peopleOfJob(api: Api, jobId: string, change: JobChangeDto['change']): PeopleSource {
  return {
    path: `/group-link/beta/sync-jobs/${jobId}/changes?pageSize=${PEOPLE_PER_PAGE}`,
    read: async (page, signal) => {
      const { items, nextCursor } = await api.page<JobChangeDto>(page, signal)
      const changed = items.filter((item) => item.change === change)
      const rows = changed.map((item) => ({ ...accountRow(item.directoryObjectId), name: item.displayName }))
      return { items: await withPeople(api, rows, signal), nextCursor }
    },
  }
}

/** The accounts of removals that are held. */
export function peopleOfRemovals(api: Api, path: string): PeopleSource {
  return {
    path: `${path}?pageSize=${PEOPLE_PER_PAGE}`,
    read: async (page, signal) => {
      const { data, nextCursor } = await api.send<RemovalPlanDto>('GET', page, { signal })
      const rows = data.accounts.map((item) => ({ ...accountRow(item.directoryObjectId), name: item.displayName }))
      return { items: await withPeople(api, rows, signal), nextCursor }
    },
  }
}

type AccountRow = ListedPerson & { readonly directoryObjectId: string }

const accountRow = (directoryObjectId: string): AccountRow => ({
  directoryObjectId,
  key: directoryObjectId,
  name: null,
  title: null,
  unit: null,
  account: directoryObjectId,
})

async function withPeople(api: Api, rows: readonly AccountRow[], signal?: AbortSignal): Promise<ListedPerson[]> {
  const people = await readPeople(api, { accounts: rows.map(({ directoryObjectId }) => directoryObjectId) }, signal)
  const holders = new Map(people.map((person) => [person.directoryObjectId, person]))
  return rows.map((row) => {
    const person = holders.get(row.directoryObjectId)
    return person === undefined ? row : { ...listed(person), key: row.key }
  })
}

/** Members with what distinguishes people. Positions have their own title and unit. */
async function listedMembers(api: Api, members: readonly MemberDto[], signal?: AbortSignal): Promise<ListedPerson[]> {
  const identityIds = members.filter(({ relationshipId }) => relationshipId === null).map(({ objectId }) => objectId)
  const people = await readPeople(api, { identityIds }, signal)
  const byId = new Map(people.map((person) => [person.identityId, person]))
  return members.map(({ objectId, displayName, title, orgUnitName, hasAccount }) => {
    const person = byId.get(objectId)
    if (person !== undefined) return listed(person)
    const account = t(hasAccount ? 'hasAccount' : 'noAccount')
    return { key: objectId, name: displayName, title, unit: orgUnitName, account }
  })
}

const listed = (person: PersonDto): ListedPerson => ({
  key: person.identityId,
  name: person.displayName,
  title: person.title,
  unit: person.orgUnitName,
  account: person.directoryUserPrincipalName ?? person.directoryObjectId ?? t('noAccount'),
})
