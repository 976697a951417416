import { countOutcome, expectStatus, type Organisation, REQUESTS_PATH, readWritten } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import type { ModelGate, ModelRequest } from './request-model.ts'

/** A person who decides on a waiting request, or tries to. */
export type Decision = {
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly request: ModelRequest
  readonly gate: ModelGate
  readonly actorNin: string
}

/** A decision with what it must result in. */
export type DueDecision = Decision & {
  readonly refusal: DecisionRefusal | undefined
  readonly kind: 'approve' | 'reject'
  readonly notes: string
}
export type DecisionRefusal = { readonly status: number; readonly code: string }

type RequestAnswer = { readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[] }

const pathOf = ({ collectionId, request }: Decision): string => `${REQUESTS_PATH}/${collectionId}/${request.id}`

/** @returns How often the decision was applied. */
export async function decideAlone(
  organisation: Organisation,
  token: string,
  due: readonly DueDecision[],
): Promise<number[]> {
  return Promise.all(
    due.map(async (decision) => {
      const { kind, notes } = decision
      const options = { token, method: 'POST', path: `${pathOf(decision)}/${kind}`, body: { notes } }
      const { status, errors, isRetry } = await expectStatus(organisation, options, 200, 403, 404, 409)
      return appliedCount(organisation, decision, { status, errors }, isRetry)
    }),
  )
}

type DecisionResult = { readonly status: number; readonly errors?: readonly { readonly code: string }[] }

/** Decides on all, on those that failed for the time being again. @returns How often each decision was applied. */
export async function decideTogether(
  organisation: Organisation,
  token: string,
  due: readonly DueDecision[],
): Promise<number[]> {
  const results = new Map<DueDecision, { readonly result: DecisionResult; readonly isRetry: boolean }>()
  for (let isRetry = false; results.size < due.length; isRetry = true) {
    const left = due.filter((decision) => !results.has(decision))
    const decisions = left.map(({ collectionId, request, kind, notes }) => {
      return { collectionId, requestId: request.id, decision: kind === 'approve' ? 'Approve' : 'Reject', notes }
    })
    const options = { token, method: 'POST', path: `${REQUESTS_PATH}/decide`, body: { decisions } }
    const reply = await expectStatus<DecisionResult[]>(organisation, options, 200)
    for (const [index, decision] of left.entries()) {
      const result = reply.data[index] ?? { status: 0 }
      const isFailure = result.status >= 500 || result.errors?.some(({ code }) => code === 'StaleVersion')
      if (!isFailure) results.set(decision, { result, isRetry: isRetry || reply.isRetry })
    }
  }
  countOutcome(organisation, `decided on ${due.length} together`)
  return Promise.all(
    due.map((decision) => {
      const { result = { status: 0 }, isRetry = false } = results.get(decision) ?? {}
      return appliedCount(organisation, decision, result, isRetry)
    }),
  )
}

/**
 * How often the decision was applied. An attempt without an answer can have been applied: the next one is then refused,
 * or decides at the next gate as well.
 * @throws Error for another result than the expected one
 */
async function appliedCount(
  organisation: Organisation,
  decision: DueDecision,
  { status, errors }: DecisionResult,
  isRetry: boolean,
): Promise<number> {
  const { refusal, gate, notes, kind } = decision
  const described = `${kind} of ${pathOf(decision)} at gate ${JSON.stringify(gate)}: ${status} ${JSON.stringify(errors)}`
  if (refusal !== undefined) {
    if (status === refusal.status && errors?.[0]?.code === refusal.code) return 0
    throw new Error(`${described}, not ${refusal.code}`)
  }
  if (status === 200 && !isRetry) return 1
  const data = await readWritten<RequestAnswer>(organisation, pathOf(decision))
  const count = data.lifecycle.filter((entry) => entry.notes === notes).length
  if (count > 0 && isRetry) return count
  throw new Error(`${described}, the request is ${JSON.stringify(data)}`)
}
