import fc from 'fast-check'
import { type ModelGate, type ModelPolicy, type Name, PEOPLE } from './deadlines-model.ts'

const APPROVERS = ['ann', 'bo', 'subject'] as const satisfies readonly Name[]
export const DECIDERS = ['subject', 'ann', 'bo', 'fay', 'eve', 'manager'] as const satisfies readonly Name[]

/** What a person does with the request. */
export type Action =
  | { readonly kind: 'submit' | 'admit' | 'extend'; readonly days: number | undefined }
  | { readonly kind: 'approve' | 'reject'; readonly by: Name | 'approver' | 'deputy' }
  | { readonly kind: 'leave' | 'cancel' }
/** What happens in a run; `kill`: before or after the first save of requests, a process ends. */
export type Step =
  | { readonly action: Action; readonly kill: 'before' | 'after' | undefined }
  | { readonly edit: ModelPolicy; readonly kill: 'before' | 'after' | undefined }
  | { readonly deputy: readonly [of: Name, to: Name]; readonly fromDays: number; readonly days: number }
  | { readonly merge: readonly [from: Name, to: Name]; readonly kill: 'before' | 'after' | undefined }
  | { readonly deletedHours: number }
  /** The requester gets another manager. */
  | { readonly manager: Name }
  /** A person joins the collection that approves, or leaves it. */
  | { readonly board: Name }
  | { readonly hours: number; readonly kill: 'before' | 'after' | undefined }

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const kill = optional(fc.constantFrom('before' as const, 'after' as const))
const some = fc.shuffledSubarray([...APPROVERS], { minLength: 1 })
const fallback = fc.record({
  afterDays: fc.integer({ min: 1, max: 3 }),
  approvers: fc.oneof(
    { weight: 3, arbitrary: fc.shuffledSubarray<Name>(['fay', 'subject', 'bo'], { minLength: 1 }) },
    { weight: 1, arbitrary: fc.constant('board' as const) },
  ),
})
const gates = fc
  .record({
    named: fc.array(fc.tuple(some, optional(fallback)), { maxLength: 2 }),
    manager: fc.boolean(),
    last: optional(fallback),
    board: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    back: optional(fallback),
  })
  .map(({ named, manager, last, board, back: boardBack }): ModelGate[] => {
    const all = named.map(([approvers, back], index) => ({
      order: index + 1,
      type: 'Identity' as const,
      approvers,
      ...(back && { fallback: back }),
    }))
    const managers = { order: 9, type: 'Manager' as const, approvers: [], ...(last && { fallback: last }) }
    const boards = { order: 5, type: 'Collection' as const, approvers: [], ...(boardBack && { fallback: boardBack }) }
    return [...all, ...(board ? [boards] : []), ...(manager ? [managers] : [])]
  })
export const policies: fc.Arbitrary<ModelPolicy> = fc
  .record({
    gates,
    maxDays: optional(fc.integer({ min: 2, max: 12 })),
    requestDays: optional(fc.integer({ min: 1, max: 6 })),
  })
  .map(({ maxDays, requestDays, ...rest }) => ({
    ...rest,
    ...(maxDays && { maxDays }),
    ...(requestDays && { requestDays }),
  }))
const days = optional(fc.integer({ min: 1, max: 14 }))
const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('submit' as const), days }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('admit' as const), days }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('extend' as const), days }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom('approve', 'approve', 'approve', 'reject'),
      by: fc.constantFrom<Name | 'approver' | 'deputy'>(
        'approver',
        'approver',
        'approver',
        'deputy',
        'deputy',
        ...DECIDERS,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('leave' as const, 'cancel' as const) }) },
)
const merges = fc.constantFrom<readonly [Name, Name]>(
  ['bo', 'subject'],
  ['ann', 'bo'],
  ['fay', 'subject'],
  ['eve', 'ann'],
)
const pairs = fc.tuple(fc.constantFrom(...PEOPLE), fc.constantFrom(...PEOPLE)).filter(([of, to]) => of !== to)
export const series: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.record({ action: actions, kill }) },
    {
      weight: 5,
      arbitrary: fc.record({
        hours: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 120, max: 420 })),
        kill,
      }),
    },
    { weight: 2, arbitrary: fc.record({ edit: policies, kill }) },
    {
      weight: 2,
      arbitrary: fc.record({
        deputy: pairs,
        fromDays: fc.integer({ min: -2, max: 2 }),
        days: fc.integer({ min: 3, max: 9 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ merge: merges, kill }) },
    { weight: 1, arbitrary: fc.record({ deletedHours: fc.integer({ min: 1, max: 72 }) }) },
    { weight: 1, arbitrary: fc.record({ manager: fc.constantFrom<Name>('manager', 'eve', 'fay', 'bo') }) },
    { weight: 2, arbitrary: fc.record({ board: fc.constantFrom<Name>('eve', 'fay', 'ann', 'subject') }) },
  ),
  { minLength: 3, maxLength: 14, size: 'max' },
)

/** How a run begins: with a request, often with a deputy, and often with a membership whose extension waits. */
export const openings: fc.Arbitrary<Step[]> = fc
  .record({
    requested: days,
    deputy: optional(pairs),
    decision: fc.constantFrom('approve', 'approve', 'approve', 'reject', undefined, undefined),
    extended: optional(fc.constantFrom(9, 14, 30)),
  })
  .map(({ requested, deputy, decision, extended }) => {
    const isApproved = decision === 'approve'
    const approval = { kind: 'approve', by: 'approver' } as const
    const taken: Action[] = [
      { kind: 'submit', days: requested },
      ...(isApproved ? [approval, approval, approval] : []),
      ...(decision === 'reject' ? [{ kind: 'reject', by: 'approver' } as const] : []),
      ...(isApproved && extended !== undefined ? [{ kind: 'extend', days: extended } as const] : []),
    ]
    const steps: Step[] = taken.map((action) => ({ action, kill: undefined }))
    return deputy === undefined ? steps : [{ deputy, fromDays: -1, days: 60 }, ...steps]
  })
