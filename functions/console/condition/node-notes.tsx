import type { ConditionWarning } from '../../../shared/domain/collections/condition-warnings.ts'
import type { ApiFault } from '../api.ts'
import { Fault } from '../components/loaded.tsx'
import { t } from '../language/texts.ts'
import type { PersonResults } from './tested-person.tsx'

/** What is known of the nodes of a tree: refusals, proofs, and the test with a person. Targets point into the tree. */
export type TreeNotes = {
  readonly faults: readonly ApiFault[]
  readonly warnings: readonly ConditionWarning[]
  readonly results: PersonResults
}

/** What is known of one node. */
export type NodeNotes = {
  readonly faults: readonly ApiFault[]
  readonly warnings: readonly ConditionWarning[]
  readonly holds: boolean | undefined
  readonly isEmpty: boolean
}

/** The notes of a leaf or one of its members. */
export function notesOfLeaf({ faults, warnings, results }: TreeNotes, pointer: string): NodeNotes {
  const isOwn = ({ target }: { readonly target?: string }) =>
    target === pointer || target?.startsWith(`${pointer}/`) === true
  return noted(faults.filter(isOwn), warnings.filter(isOwn), results.get(pointer))
}

/** The notes of a group without those of its nodes. */
export function notesOfGroup({ faults, warnings }: TreeNotes, pointer: string): NodeNotes {
  const isOwn = ({ target }: { readonly target?: string }) =>
    target === pointer || target === `${pointer}/conditions` || target === `${pointer}/over`
  return noted(faults.filter(isOwn), warnings.filter(isOwn), undefined)
}

function noted(
  faults: readonly ApiFault[],
  warnings: readonly ConditionWarning[],
  holds: boolean | undefined,
): NodeNotes {
  return { faults, warnings, holds, isEmpty: faults.length + warnings.length === 0 && holds === undefined }
}

/** What follows from the condition alone, and why it is refused, at its place. */
export function Notes({ warnings, faults }: Pick<NodeNotes, 'warnings' | 'faults'>) {
  return (
    <>
      {warnings.map(({ code }) => (
        <p key={code} class="proof wide">
          {t(`proof${code}`)}
        </p>
      ))}
      {faults.map((fault) => (
        <div key={fault.message} class="fault" role="alert">
          <Fault fault={fault} />
        </div>
      ))}
    </>
  )
}
