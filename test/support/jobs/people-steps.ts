import fc from 'fast-check'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { nameOf, objectWrite } from '../contract/random-writes.ts'

/** Connectors that send and change at random. The first is the oldest. */
export const CONNECTORS_COUNT = 3
/** A collection that a group is linked to, one of positions, and one whose requests wait for an approver. */
export const COLLECTION_TYPES = ['Identity', 'Relationship', 'Identity'] as const
export const LINKED = 0
export const APPROVED = 2

/**
 * What a process meets, this many calls after the beginning of its work:
 *
 * - `killed`, `unanswered`: it ends, or the answer to the call is lost. The work is repeated by another instance.
 * - `abandoned`: it ends, and the work is not repeated. The audit repairs what it left.
 * - `followed`: another instance evaluates and syncs at that moment.
 */
export type Fault = {
  readonly atCall: number
  readonly kind: 'killed' | 'unanswered' | 'abandoned' | 'followed'
}

/** What decides who is who. */
export type PeopleSettings = Pick<Connector, 'joinOn' | 'bindsAccounts' | 'authority'>
export type Named = { readonly connector: number; readonly name: string }

/** How an HR system gives a person another external id: with or without the former one, in which order and batches. */
type Rekeying = 'deleted first' | 'created first' | 'deleted before' | 'created before' | 'renamed'
export type RekeyStep = {
  readonly kind: 'rekey'
  readonly connector: number
  readonly from: string
  readonly to: string
  readonly how: Rekeying
  readonly duringWrite: Fault | undefined
}
export type WriteStep = {
  readonly kind: 'write'
  readonly connector: number
  readonly write: ObjectWrite
  /** What another instance writes for another connector, `atCall` calls after this write began. */
  readonly crossing: { readonly atCall: number; readonly connector: number; readonly write: ObjectWrite } | undefined
  readonly duringWrite: Fault | undefined
  readonly duringEvaluation: Fault | undefined
}
export type SettingsStep = {
  readonly kind: 'settings'
  readonly connector: number
  readonly settings: PeopleSettings
  readonly duringChange: Fault | undefined
  readonly duringAudit: Fault | undefined
}
export type MemberStep = Named & { readonly kind: 'join' | 'leave'; readonly collection: number }
export type Step = WriteStep | RekeyStep | SettingsStep | MemberStep

/** What the connectors have sent, and who has joined each collection, before the first step. */
export type Start = {
  readonly objects: readonly (readonly ObjectWrite[])[]
  readonly members: readonly (readonly Named[])[]
}

const fault = (kinds: readonly Fault['kind'][], atMost: number): fc.Arbitrary<Fault | undefined> =>
  fc.option(fc.record({ atCall: fc.nat({ max: atMost }), kind: fc.constantFrom(...kinds) }), {
    nil: undefined,
    freq: 2,
  })
const connector = fc.nat({ max: CONNECTORS_COUNT - 1 })
const name = fc.constantFrom('1', '2', '3')
const named: fc.Arbitrary<Named> = fc.record({ connector, name })
const collection = fc.nat({ max: COLLECTION_TYPES.length - 1 })
const duringWrite = fault(['killed', 'unanswered', 'abandoned', 'followed', 'followed'], 36)

const write: fc.Arbitrary<WriteStep> = fc.record({
  kind: fc.constant('write' as const),
  connector,
  write: objectWrite,
  crossing: fc.option(fc.record({ atCall: fc.nat({ max: 24 }), connector, write: objectWrite }), {
    nil: undefined,
    freq: 5,
  }),
  duringWrite,
  duringEvaluation: fault(['killed', 'unanswered'], 20),
})
const rekey: fc.Arbitrary<RekeyStep> = fc
  .record({
    connector,
    from: name,
    to: name,
    how: fc.constantFrom<Rekeying>('deleted first', 'created first', 'deleted before', 'created before', 'renamed'),
    duringWrite,
  })
  .map((each) => ({ kind: 'rekey', ...each }))
const settings: fc.Arbitrary<SettingsStep> = fc.record({
  kind: fc.constant('settings' as const),
  connector,
  settings: fc.record({
    joinOn: fc.constantFrom<string[]>(
      ['nin'],
      ['directoryObjectId'],
      ['directoryObjectId', 'nin'],
      ['nin', 'directoryObjectId'],
      ['email'],
      ['nin', 'email'],
      ['email', 'directoryObjectId'],
    ),
    bindsAccounts: fc.boolean(),
    authority: fc.constantFrom('Full' as const, 'Full' as const, 'Supplement' as const),
  }),
  duringChange: fault(['killed', 'unanswered', 'abandoned'], 8),
  duringAudit: fault(['killed', 'unanswered'], 30),
})
const member: fc.Arbitrary<MemberStep> = fc.record({
  kind: fc.constantFrom('join' as const, 'join' as const, 'leave' as const),
  connector,
  name,
  collection,
})

export const peopleSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: write },
    { weight: 3, arbitrary: rekey },
    { weight: 2, arbitrary: settings },
    { weight: 1, arbitrary: member },
  ),
  { minLength: 1, maxLength: 6 },
)

export const peopleStart: fc.Arbitrary<Start> = fc.record({
  objects: fc.tuple(
    ...Array.from({ length: CONNECTORS_COUNT }, () =>
      fc.uniqueArray(objectWrite, { minLength: 1, maxLength: 4, selector: nameOf }),
    ),
  ),
  members: fc.tuple(...COLLECTION_TYPES.map(() => fc.array(named, { minLength: 1, maxLength: 4 }))),
})

/** The faults of a step. */
export function faultsOf(step: Step): readonly Fault[] {
  if (step.kind === 'write') return [step.duringWrite, step.duringEvaluation].filter((each) => each !== undefined)
  if (step.kind === 'rekey') return step.duringWrite === undefined ? [] : [step.duringWrite]
  if (step.kind === 'settings') return [step.duringChange, step.duringAudit].filter((each) => each !== undefined)
  return []
}

/** Whether the outcome depends on what other instances did meanwhile. */
export const hasOneOutcome = (step: Step): boolean =>
  !faultsOf(step).some(({ kind }) => kind === 'abandoned') && !(step.kind === 'write' && step.crossing !== undefined)
