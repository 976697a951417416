import { type Static, Type } from 'typebox'
import { actOnRequest } from '../../shared/domain/membership-requests/act-on-request.ts'
import {
  DeputyDto,
  DeputyInput,
  readDeputy,
  removeDeputy,
  setDeputy,
} from '../../shared/domain/membership-requests/manage-deputy.ts'
import { Notes } from '../../shared/domain/membership-requests/membership-request.ts'
import type { Person } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { FAULT_ENTRY, httpStatusOf } from '../../shared/http/envelope.ts'
import { actingIdentity, deleted, ok, type Route, type RouteInput, route } from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusal-register.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../shared/kernel/schema.ts'
import { Timestamp } from '../../shared/kernel/timestamp.ts'
import { PERSON_ROLES, type RequestRouteDependencies, viewerOf } from './collection-contract.ts'

const ADMINISTRATOR = 'collection_criteria_definition-administrator'

const DeputyQuery = Type.Object({
  identityId: Type.Optional({
    ...Guid,
    description: 'Another identity than the caller. For collections administrators only.',
  }),
})

const NOBODY_ELSE =
  'A person has at most one deputy. Collections administrators can name another person than themselves by `identityId`; ' +
  'for others, this is refused with `RoleRequired`.'

/** Deputies, and several decisions at once. */
export const deputyRoutes = (deps: RequestRouteDependencies): readonly Route[] => [
  route('GET', '/membership-requests/deputy', {
    operationId: 'getDeputy',
    summary: 'Get my deputy',
    description: `Returns null when there is none, now or later. ${NOBODY_ELSE}`,
    roles: PERSON_ROLES,
    identity: { exempt: [ADMINISTRATOR] },
    query: DeputyQuery,
    reply: { status: 200, schema: Nullable(DeputyDto) },
    refusals: ['RoleRequired', 'CallerHasNoIdentity', 'IdentityNotFound'],
    run: async (input) => ok(await readDeputy(personNamedBy(input), deps)),
  }),
  route('PUT', '/membership-requests/deputy', {
    operationId: 'setDeputy',
    summary: 'Set my deputy',
    description:
      'Sets or replaces the deputy of the caller for a time of up to 180 days, from now if `from` is omitted. During this ' +
      'time the deputy decides wherever the person represented may decide, in lists, by approving and by rejecting; the ' +
      'lifecycle names both, as `actorId` and `onBehalfOf`. A deputy decides neither their own requests nor those of the ' +
      `person represented, and does not represent those whose deputy that person is. ${NOBODY_ELSE}`,
    roles: PERSON_ROLES,
    identity: { exempt: [ADMINISTRATOR] },
    query: DeputyQuery,
    body: DeputyInput,
    reply: { status: 200, schema: DeputyDto },
    refusals: [
      'RoleRequired',
      'CallerHasNoIdentity',
      'InvalidEnd',
      'InvalidPeriod',
      'DeputyIsSelf',
      'IdentityUnknown',
      'IdentityNotFound',
    ],
    run: async (input) => ok(await setDeputy(personNamedBy(input), input.body, deps)),
  }),
  route('DELETE', '/membership-requests/deputy', {
    operationId: 'removeDeputy',
    summary: 'Remove my deputy',
    description: `Has no effect when there is none. ${NOBODY_ELSE}`,
    roles: PERSON_ROLES,
    identity: { exempt: [ADMINISTRATOR] },
    query: DeputyQuery,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['RoleRequired', 'CallerHasNoIdentity', 'IdentityNotFound'],
    run: async (input) => deleted(removeDeputy(personNamedBy(input), deps)),
  }),
  decideRoute(deps),
]

/** @throws Refusal `RoleRequired`, `CallerHasNoIdentity`. */
function personNamedBy({
  caller,
  identityId: own,
  query,
}: Pick<RouteInput<Static<typeof DeputyQuery>>, 'caller' | 'identityId' | 'query'>): Person {
  const { tenantId } = caller
  const identityId = query.identityId ?? own
  if (identityId === undefined) throw new Refusal('CallerHasNoIdentity')
  if (identityId !== own && !caller.roles.has(ADMINISTRATOR)) throw new Refusal('RoleRequired')
  return { tenantId, identityId }
}

const MAX_DECISIONS = 100

/** Body of decide. */
export const Decisions = Type.Object({
  decisions: Type.Array(
    Type.Object({
      collectionId: Guid,
      requestId: Guid,
      decision: OneOf(['Approve', 'Reject']),
      updatedAt: Type.Optional(
        Described(
          Timestamp,
          'The `updatedAt` of the request that the decision is for, as lists return it. The decision is refused with ' +
            '`PreconditionFailed`, with status 412, if the request has changed since.',
        ),
      ),
      notes: Type.Optional(Notes),
    }),
    { minItems: 1, maxItems: MAX_DECISIONS },
  ),
})

type Decision = Static<typeof Decisions>['decisions'][number]

export const DecisionResult = Closed({
  index: Type.Integer(),
  status: Type.Integer(),
  errors: Type.Optional(
    Type.Array(Closed({ code: Type.String(), message: Type.String(), target: Type.Optional(Type.String()) })),
  ),
})

const ITEM_REFUSALS: readonly RefusalCode[] = [
  'CollectionNotFound',
  'RequestNotFound',
  'PreconditionFailed',
  'NotesRequired',
  'InvalidRequestState',
  'SelfApproval',
  'NotCurrentApprover',
  'StaleVersion',
  'DuplicateItem',
]

const decideRoute = (deps: RequestRouteDependencies): Route =>
  route('POST', '/membership-requests/decide', {
    operationId: 'decideRequests',
    summary: 'Decide on several requests',
    description:
      'Approves and rejects up to 100 requests, one after the other, as approve and reject do. The result has an entry for ' +
      'each, in order, with the status that the action alone would have. One that is refused does not affect the others. Of several for ' +
      'one request, the first counts; the others are refused with `DuplicateItem`. A call that is repeated decides again: ' +
      'an approval also passes the gate that the request has come to, if the caller decides there as well. With the ' +
      '`updatedAt` of the request, a decision is made once, and its repetition is refused with `PreconditionFailed`.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: Decisions,
    reply: { status: 200, schema: Type.Array(DecisionResult) },
    refusals: ITEM_REFUSALS,
    run: async (input) => {
      const person = { identityId: actingIdentity(input), seesAll: viewerOf(input).seesAll }
      const { tenantId } = input.caller
      const results: Static<typeof DecisionResult>[] = []
      const namedIds = new Set<string>()
      const decide = async ({ collectionId, requestId, decision, updatedAt, notes }: Decision, index: number) => {
        if (namedIds.has(requestId)) throw duplicate(requestId, index)
        namedIds.add(requestId)
        const name = { tenantId, collectionId, requestId }
        const kind = decision === 'Approve' ? 'approve' : 'reject'
        await actOnRequest(name, kind, notes === undefined ? {} : { notes }, person, { updatedAt }, deps)
      }
      for (const [index, decision] of input.body.decisions.entries()) {
        const result = await decide(decision, index).then(
          () => ({ status: 200 }),
          (error: unknown) => failureOf(error, deps),
        )
        results.push({ index, ...result })
      }
      return ok(results)
    },
  })

function duplicate(requestId: string, index: number): Refusal {
  const message = `An earlier decision of the call is for request ${requestId}`
  return new Refusal('DuplicateItem', message, `/decisions/${index}/requestId`)
}

/** What one decision answers that fails. A fault is logged and does not affect the other decisions. */
function failureOf(
  error: unknown,
  { log }: Pick<RequestRouteDependencies, 'log'>,
): Omit<Static<typeof DecisionResult>, 'index'> {
  if (error instanceof Refusal) return { status: httpStatusOf(error), errors: [...error.entries] }
  log.error('requests.decide-failed', error, {})
  return { status: 500, errors: [FAULT_ENTRY] }
}
