import { randomUUID } from 'node:crypto'
import { readRemovalPlan } from '../../../shared/domain/group-links/approve-removals.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { TENANT } from '../../support/jobs/link-directory.ts'
import { openFixture } from '../../support/jobs/link-fixture.ts'

/** A held plan of 100,000 accounts: storing it, and reading it in pages with the names of the identities. */
const ACCOUNTS_COUNT = 100_000
const PAGE_SIZE = 2_000
const MAX_PAGE_MS = 300
const OPERATIONS_COUNT = 100

const fixture = await openFixture()
const { deps } = fixture
const accounts = Array.from({ length: ACCOUNTS_COUNT }, () => randomUUID()).sort()
const coreObjects = fixture.container('coreObjects')
for (let start = 0; start < ACCOUNTS_COUNT; start += OPERATIONS_COUNT) {
  const creations = accounts.slice(start, start + OPERATIONS_COUNT).map((directoryObjectId, index) => ({
    operationType: 'Create' as const,
    resourceBody: {
      id: randomUUID(),
      tenantId: TENANT,
      objectType: 'identity',
      deleted: false,
      attributes: { directoryObjectId, displayName: `Person ${start + index}` },
    },
  }))
  await coreObjects.items.batch(creations, TENANT)
}
const collectionId = fixture.collections.make([])
const linkId = await createLink(TENANT, { collectionId, directoryGroupId: await fixture.newGroup() }, deps)

const planId = randomUUID()
const saveStartMs = performance.now()
await deps.removalPlans.save({ tenantId: TENANT, planId }, accounts)
const savedMs = performance.now() - saveStartMs
const found = await deps.links.find(TENANT, linkId)
if (found === undefined) throw new Error('There is no link')
const heldRemovals = {
  ...{ planId, count: ACCOUNTS_COUNT, limit: 20_000, removedInWindow: 0, groupSize: ACCOUNTS_COUNT },
  reason: 'TooMany',
  createdAt: found.value.createdAt,
  storedAtMs: 0,
} as const
await deps.links.replace({ ...found.value, heldRemovals }, found.version)

const pagesMs: number[] = []
let namedCount = 0
let position: string | undefined
do {
  const startMs = performance.now()
  const { data, continueAfter } = await readRemovalPlan(
    { tenantId: TENANT, linkId },
    { after: position, size: PAGE_SIZE },
    deps,
  )
  pagesMs.push(performance.now() - startMs)
  namedCount += data.accounts.filter(({ displayName }) => displayName !== null).length
  position = continueAfter
} while (position !== undefined)
const approvedStartMs = performance.now()
const { size } = await deps.removalPlans.accountsOf({ tenantId: TENANT, planId })
const approvedMs = performance.now() - approvedStartMs
pagesMs.sort((left, right) => left - right)
const medianMs = pagesMs[Math.floor(pagesMs.length / 2)] ?? 0
const longestMs = pagesMs.at(-1) ?? 0
process.stdout.write(
  `Stored ${size} accounts in ${savedMs.toFixed(0)} ms; read for an approval in ${approvedMs.toFixed(0)} ms\n` +
    `${pagesMs.length} pages of ${PAGE_SIZE}, ${namedCount} accounts with names: median ${medianMs.toFixed(0)} ms, ` +
    `longest ${longestMs.toFixed(0)} ms (at most ${MAX_PAGE_MS} ms)\n`,
)
await fixture.close()
process.exitCode = namedCount === ACCOUNTS_COUNT && longestMs < MAX_PAGE_MS ? 0 : 1
