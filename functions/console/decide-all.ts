import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { ApiFault } from './api.ts'
import { t } from './language/texts.ts'

type Request = Pick<MembershipRequestDto, 'id' | 'collectionId' | 'requesterName' | 'updatedAt'>
type Decision = { readonly decision: 'Approve' | 'Reject'; readonly notes: string }

/** Decides on at most 100 requests in one call. */
type DecidePart = (decisions: readonly object[]) => Promise<readonly DecideResult[]>
export type DecideResult = { readonly index: number; readonly status: number; readonly errors?: readonly ApiFault[] }

/** A request that was refused. */
export type Failure = { readonly name: string; readonly errors: readonly ApiFault[] }

/** Decisions in one call, at most. */
const DECIDED_AT_ONCE_COUNT = 100

type Outcome = {
  readonly doneCount: number
  readonly failures: readonly Failure[]
  /** The requests of the call that failed, which may be decided, and of those after it, which are not. */
  readonly restIds: readonly string[]
  /** Why a call failed. */
  readonly error: unknown
}

/** Decides on all requests, as they were shown, until a call fails. */
export async function decideAll(
  requests: readonly Request[],
  { decision, notes }: Decision,
  decidePart: DecidePart,
): Promise<Outcome> {
  const failures: Failure[] = []
  for (let start = 0; start < requests.length; start += DECIDED_AT_ONCE_COUNT) {
    const part = requests.slice(start, start + DECIDED_AT_ONCE_COUNT)
    const decisions = part.map(({ collectionId, id: requestId, updatedAt }) => {
      return { collectionId, requestId, decision, updatedAt, notes: notes || undefined }
    })
    try {
      for (const { index, errors } of await decidePart(decisions)) {
        if (errors !== undefined) failures.push({ name: part[index]?.requesterName ?? t('unknown'), errors })
      }
    } catch (error) {
      const restIds = requests.slice(start).map(({ id }) => id)
      return { doneCount: start - failures.length, failures, restIds, error }
    }
  }
  return { doneCount: requests.length - failures.length, failures, restIds: [], error: undefined }
}
