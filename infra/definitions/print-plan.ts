import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { Outcome } from './apply-plan.ts'
import type { FileFault } from './definition-file.ts'
import type { DefinitionPlan, Step } from './step.ts'

type Say = (line: string) => void

/** Where a command writes lines: standard output, and standard error. */
export type DefinitionsOutput = { readonly say: Say; readonly sayError: Say }

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const KINDS = {
  criteria: 'criteria collection',
  joinable: 'joinable collection',
  link: 'link of the group',
  settings: 'settings of group links',
} as const

/** A step in a few words: `+ create criteria collection Teachers`. */
export function describedStep({ action, kind, name, fields }: Step): string {
  const subject = kind === 'settings' ? KINDS[kind] : `${KINDS[kind]} ${name}`
  return `${SIGNS[action]} ${action} ${subject}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`
}

export function describedFault({ file, line, column, message }: FileFault): string {
  return `${file}:${line}:${column}: ${message}`
}

/** Prints what would change, a summary at the end. */
export function printPlan({ steps, groupNames }: DefinitionPlan, say: Say): void {
  for (const step of steps) {
    say(describedStep(step))
    for (const line of detailsOf(step, groupNames)) say(`    ${line}`)
  }
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length
  if (steps.length === 0) say('Nothing to do')
  else say(`${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`)
}

function detailsOf(step: Step, groupNames: DefinitionPlan['groupNames']): string[] {
  const { file, note, effect, accounts, memberCount, kind, method } = step
  const isUnknown = kind === 'criteria' && effect === undefined && (method === 'POST' || step.planPath !== undefined)
  return [
    ...(file === undefined ? [] : [`in ${file.file}`]),
    ...(note === undefined ? [] : [note]),
    ...(memberCount === undefined ? [] : [`has ${memberCount} members`]),
    ...(accounts === undefined
      ? []
      : [`accounts of the present members: ${changeOf(accounts.toAdd, accounts.toRemove)}`]),
    ...(effect === undefined ? [] : describedEffect(effect, groupNames)),
    ...(isUnknown ? ['members: known when the changes before it are made'] : []),
  ]
}

/** The effect of saving a criteria collection, in lines. */
export function describedEffect(
  { collections, links, requests, warnings }: ChangePlan,
  groupNames: DefinitionPlan['groupNames'],
): string[] {
  const [first, ...others] = collections
  const { becomeEligible, loseEligibility } = requests
  return [
    ...(first === undefined ? [] : [`members: ${changeOf(first.added, first.removed)}`]),
    ...others.map(({ name, added, removed }) => `members of ${name}: ${changeOf(added, removed)}`),
    ...links.map(({ directoryGroupId: id, toAdd, toRemove, wouldHold }) => {
      const held = wouldHold ? ', which the removal guard would hold' : ''
      return `accounts in the group ${groupNames.get(id) ?? id}: ${changeOf(toAdd, toRemove)}${held}`
    }),
    ...(becomeEligible + loseEligibility === 0
      ? []
      : [`people: ${becomeEligible} become eligible to join, ${loseEligibility} waiting requests lose eligibility`]),
    ...warnings.map(({ code, message }) => `warning ${code}: ${message}`),
  ]
}

const changeOf = (added: number, removed: number): string => `${added} added, ${removed} removed`

/** Prints what is not done after a refusal, and a summary. */
export function printOutcome({ done, refused, notDone }: Outcome, { say, sayError }: DefinitionsOutput): void {
  const open = refused === undefined ? [] : [refused.step, ...notDone]
  if (refused !== undefined) sayError(`refused: ${describedStep(refused.step)}: ${refused.error.message}`)
  for (const step of notDone) sayError(`not done: ${describedStep(step)}`)
  for (const { name } of open.filter(
    ({ action, path }) => action === 'delete' && done.some((step) => step.path === path),
  ))
    sayError(
      `not deleted, but changed: the join policy of ${name} refers to ${name} itself in place of other collections. ` +
        'Correct the cause and run it again: it deletes the collection',
    )
  if (done.length > 0 || refused !== undefined) say(`${done.length} changes done, ${open.length} not done`)
}

/** A step for machines. */
export function stepAsJson({ action, kind, name, fields, file, note, accounts, memberCount, effect }: Step): object {
  return {
    action,
    kind,
    name,
    file: file?.file ?? null,
    fields,
    collections: effect?.collections ?? null,
    links: effect?.links ?? null,
    requests: effect?.requests ?? null,
    warnings: effect?.warnings ?? null,
    accounts: accounts ?? null,
    memberCount: memberCount ?? null,
    note: note ?? null,
  }
}
