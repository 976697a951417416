import { CommandError } from '../command.ts'
import { type ApiCall, connect } from '../import/api-connection.ts'
import { applyPlan, type Outcome } from './apply-plan.ts'
import { type DefinitionFile, readDefinitionFiles } from './definition-file.ts'
import { type DefinitionsOptions, readDefinitionsOptions, USAGE } from './definitions-options.ts'
import { exportDefinitions } from './export-definitions.ts'
import { planDefinitions } from './plan-definitions.ts'
import {
  type DefinitionsOutput,
  describedEffect,
  describedFault,
  describedStep,
  printOutcome,
  printPlan,
  stepAsJson,
} from './print-plan.ts'
import { signInWithBrowser, storedTokens } from './sign-in.ts'
import type { DefinitionPlan } from './step.ts'
import { signInFile, storedSignIns } from './stored-sign-ins.ts'
import { readTenant } from './tenant.ts'

type FolderOptions = Exclude<DefinitionsOptions, { command: 'login' }>

/**
 * Runs a command with these words and variables, and writes what it found and did.
 * @returns the exit code, see `USAGE`
 */
export async function runDefinitions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: DefinitionsOutput,
): Promise<number> {
  try {
    return await runCommand(words, environment, output)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    output.sayError(`definitions: ${error.message}`)
    return 1
  }
}

async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: DefinitionsOutput,
): Promise<number> {
  const { say } = output
  const options = readDefinitionsOptions(words, environment)
  if (options === 'help') {
    say(USAGE)
    return 0
  }
  const signIns = storedSignIns(signInFile(environment))
  if (options.command === 'login') {
    const signIn = await signInWithBrowser(options.apiUrl, say)
    signIns.save(options.apiUrl, signIn)
    say(`Signed in as ${signIn.username}`)
    return 0
  }
  const { connection } = options
  const isSignedIn = connection.token === undefined && connection.credentials === undefined
  const newToken = isSignedIn ? storedTokens(connection.apiUrl, signIns, Date.now) : undefined
  const call = await connect({ ...connection, newToken })
  if (options.command === 'export') return runExport(options, call, output)
  const plan = await planned(options, call, output)
  if (plan === undefined) return 1
  return options.command === 'plan' ? showPlan(plan, options, output) : runApply(plan, options, call, output)
}

async function runExport(
  { folder, prunes, isJson }: FolderOptions,
  call: ApiCall,
  { say }: DefinitionsOutput,
): Promise<number> {
  const outcome = await exportDefinitions(folder, await readTenant(call), prunes, call)
  const { written, unchanged, surplus, withHiddenValues } = outcome
  if (isJson) {
    say(JSON.stringify({ written, unchanged, surplus, pruned: prunes, withHiddenValues }, undefined, 2))
    return 0
  }
  for (const file of written) say(`written ${file}`)
  for (const file of surplus) say(prunes ? `deleted ${file}` : `not in the tenant: ${file}. Delete it with --prune`)
  for (const file of withHiddenValues) say(`has values that you may not read, as hidden: ${file}`)
  say(`${written.length} files written, ${unchanged.length} unchanged`)
  return 0
}

/** The plan, or undefined when mistakes in the files were printed. */
async function planned(
  { folder, prunes, isJson }: FolderOptions,
  call: ApiCall,
  { say, sayError }: DefinitionsOutput,
): Promise<DefinitionPlan | undefined> {
  const { files, faults } = readDefinitionFiles(folder)
  const plan = faults.length > 0 ? undefined : await planOf(files, prunes, call)
  const all = [...faults, ...(plan?.faults ?? [])]
  if (all.length === 0) return plan
  if (isJson) say(JSON.stringify({ changes: [], faults: all }, undefined, 2))
  else for (const fault of all) sayError(describedFault(fault))
  return undefined
}

const planOf = async (files: readonly DefinitionFile[], prunes: boolean, call: ApiCall): Promise<DefinitionPlan> =>
  planDefinitions(files, await readTenant(call), prunes, call)

function showPlan(plan: DefinitionPlan, { isJson }: FolderOptions, { say }: DefinitionsOutput): number {
  if (isJson) say(JSON.stringify({ changes: plan.steps.map(stepAsJson), faults: [] }, undefined, 2))
  else printPlan(plan, say)
  return plan.steps.length === 0 ? 0 : 2
}

async function runApply(
  plan: DefinitionPlan,
  { isJson }: FolderOptions,
  call: ApiCall,
  output: DefinitionsOutput,
): Promise<number> {
  const { say } = output
  const tell = isJson ? () => undefined : say
  printPlan(plan, tell)
  const outcome = await applyPlan(plan, call, {
    done: (step) => tell(`done: ${describedStep(step)}`),
    plannedAgain: (step, effect) => {
      tell(`planned again after the changes before it: ${describedStep(step)}`)
      for (const line of describedEffect(effect, plan.groupNames)) tell(`    ${line}`)
    },
  })
  if (isJson) say(JSON.stringify(outcomeAsJson(plan, outcome), undefined, 2))
  else printOutcome(outcome, output)
  return outcome.refused === undefined ? 0 : 1
}

function outcomeAsJson({ steps }: DefinitionPlan, { done, refused, notDone }: Outcome): object {
  return {
    changes: steps.map(stepAsJson),
    done: done.map(stepAsJson),
    refused: refused === undefined ? null : { ...stepAsJson(refused.step), reason: refused.error.message },
    notDone: notDone.map(stepAsJson),
  }
}
