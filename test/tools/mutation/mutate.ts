import { execFileSync, spawn } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { numberOption, toolWords } from '../tool-options.ts'
import { type Coverage, isCovered, nearestTests, readCoverage } from './covering-tests.ts'
import { DECISION_MODULES, EQUIVALENT_MUTANTS } from './decision-modules.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { saveScore, shareOf } from './scores.ts'
import { noticedInOneProcess } from './switched-runs.ts'
import { type SwitchedSource, switchedSource } from './switched-source.ts'

/**
 * Changes the decision modules in one place at a time and runs the tests that execute this place until one fails: those
 * that need no server for many mutants in one process, then the others, each the nearest by imports first. A mutant
 * that no test notices survives. The changes are made in a copy of the project. The scores are saved in `scores.json`.
 */
const USAGE = `npm run mutate -- [module ...] [--tests N] [--server-tests N]
Modules: ${Object.keys(DECISION_MODULES).join(', ')}; default: all.
--tests N          test files per module without a server, the nearest first (default 6)
--server-tests N   those with a server, which run for the mutants that the others do not notice (default 2)`

/** An endless loop takes this much longer than the test without a change. */
const TIMEOUT_FACTOR = 5
const TIMEOUT_AT_LEAST_MS = 20_000

/** Processor time for the tests of a module without a server together: those that take longer are left out. */
const PURE_TESTS_MS = 15_000

/** Runs test files, and writes their processor time to the file descriptor 3. */
const RUN_TESTS = `import { writeSync } from 'node:fs'
import fc from 'fast-check'
import { PROPERTY_SETTINGS, processorMs } from './test/tools/mutation/property-settings.ts'
fc.configureGlobal(PROPERTY_SETTINGS)
process.once('exit', () => writeSync(3, String(processorMs())))
for (const file of process.argv.slice(2)) await import('./' + file)
`

/** A test file that passes without a change. */
type Test = {
  readonly file: string
  readonly distance: number
  /** It imports no local server. */
  readonly isPure: boolean
  readonly durationMs: number
  readonly processorMs: number
  readonly coverage: Coverage
}

const { values, positionals } = toolWords({
  tests: { type: 'string' },
  'server-tests': { type: 'string' },
  help: { type: 'boolean' },
})
const counts = {
  pure: numberOption('tests', values.tests, 6),
  withServer: numberOption('server-tests', values['server-tests'], 2),
}
const unknown = positionals.filter((name) => !Object.hasOwn(DECISION_MODULES, name))
if (values.help === true || unknown.length > 0) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

const project = copyOfProject()
const SWITCH_URL = pathToFileURL(join(project, 'test/tools/mutation/active-mutant.ts')).href
try {
  await mutate(positionals.length > 0 ? positionals : Object.keys(DECISION_MODULES), counts)
} finally {
  rmSync(project, { recursive: true })
}

/** Test files of a module. */
type TestCounts = { readonly pure: number; readonly withServer: number }

async function mutate(names: readonly string[], counts: TestCounts): Promise<void> {
  const total = { noticedCount: 0, mutantCount: 0 }
  for (const name of names) {
    let mutantCount = 0
    const survivors: string[] = []
    for (const file of DECISION_MODULES[name] ?? []) {
      const mutants = notEquivalent(file, mutantsOf(file, readFileSync(join(project, file), 'utf8')))
      const { mutants: inFunctions } = switchedSource(readFileSync(join(project, file), 'utf8'), mutants, SWITCH_URL)
      const survived = await survivorsOf(mutants, await testsOf(file, [...inFunctions.values()], counts))
      for (const { line, source, change } of survived)
        process.stdout.write(`  survived ${file}:${line}  ${change}\n           ${source}\n`)
      survivors.push(...survived.map(({ source, change }) => `${file}: ${change}, in: ${source}`))
      mutantCount += mutants.length
    }
    const score = { noticedCount: mutantCount - survivors.length, mutantCount, survivors }
    process.stdout.write(`${name}: ${shareOf(score)}\n`)
    saveScore(name, score, project)
    total.noticedCount += score.noticedCount
    total.mutantCount += mutantCount
  }
  if (names.length > 1) process.stdout.write(`all: ${shareOf(total)}\n`)
}

/** @throws Error when an equivalent mutant is listed that does not exist: its line has changed. */
function notEquivalent(file: string, mutants: readonly Mutant[]): readonly Mutant[] {
  const nameOf = (source: string, change: string) => `${source}  ${change}`
  const lines = EQUIVALENT_MUTANTS.filter((each) => each.file === file).flatMap((each) => each.lines)
  const listed = new Set(lines.flatMap(([source, ...changes]) => changes.map((change) => nameOf(source, change))))
  const names = new Set(mutants.map(({ source, change }) => nameOf(source, change)))
  for (const name of listed.difference(names)) throw new Error(`${file} has no mutant ${name}`)
  return mutants.filter(({ source, change }) => !listed.has(nameOf(source, change)))
}

/**
 * The nearest tests that execute one of the mutants.
 * @param mutants those in functions: all else is executed by an import.
 */
async function testsOf(
  module: string,
  mutants: readonly Mutant[],
  { pure, withServer }: TestCounts,
): Promise<readonly Test[]> {
  const files = globSync('test/**/*.test.ts', { cwd: project }).sort()
  const all = nearestTests(project, files, module)
  const near = [
    ...all.filter(({ isPure }) => isPure).slice(0, pure),
    ...all.filter(({ isPure }) => !isPure).slice(0, withServer),
  ]
  const tests: Test[] = []
  for (const { file, distance, isPure } of near) {
    const coverageFolder = mkdtempSync(join(tmpdir(), 'coverage-'))
    const startedMs = performance.now()
    const { hasPassed, processorMs } = await runTests([file], { NODE_V8_COVERAGE: coverageFolder }, 600_000)
    const durationMs = performance.now() - startedMs
    if (!hasPassed) throw new Error(`${file} fails without a change`)
    const coverage = readCoverage(coverageFolder, project)
    if (mutants.some(({ whole }) => isCovered(coverage, module, whole.start)))
      tests.push({ file, distance, isPure, durationMs, processorMs, coverage })
    rmSync(coverageFolder, { recursive: true })
  }
  tests.sort((left, right) => left.distance - right.distance || left.processorMs - right.processorMs)
  let leftMs = PURE_TESTS_MS
  return tests.filter(({ isPure: isSwitched, processorMs }) => {
    if (!isSwitched) return true
    const fits = processorMs <= leftMs
    if (fits) leftMs -= processorMs
    return fits
  })
}

async function survivorsOf(mutants: readonly Mutant[], tests: readonly Test[]): Promise<readonly Mutant[]> {
  const [file] = mutants.map((mutant) => mutant.file)
  if (file === undefined) return []
  const path = join(project, file)
  const text = readFileSync(path, 'utf8')
  const pure = tests.filter(({ isPure }) => isPure)
  const switched = switchedSource(text, mutants, SWITCH_URL)
  const isSwitched = new Set(pure.length === 0 ? [] : switched.mutants.values())
  writeFileSync(path, switched.text)
  const noticed = await noticedWithoutServer(switched, pure)
  const survivors: Mutant[] = []
  for (const mutant of mutants.filter((mutant) => !noticed.has(mutant))) {
    writeFileSync(path, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end))
    const left = tests.filter(({ isPure }) => !isPure || !isSwitched.has(mutant))
    if (!(await isNoticed(mutant, left))) survivors.push(mutant)
  }
  writeFileSync(path, text)
  return survivors
}

/** The mutants that tests without a server notice. */
async function noticedWithoutServer(
  { mutants }: SwitchedSource,
  tests: readonly Test[],
): Promise<ReadonlySet<Mutant | undefined>> {
  if (tests.length === 0) return new Set()
  const switchedTests = { project, files: tests.map(({ file }) => file), timeoutMs: timeoutMsOf(tests) }
  const noticed = await noticedInOneProcess([...mutants.keys()], switchedTests)
  return new Set([...noticed].map((number) => mutants.get(number)))
}

function timeoutMsOf(tests: readonly Test[]): number {
  const durationMs = tests.reduce((sum, test) => sum + test.durationMs, 0)
  return Math.max(TIMEOUT_AT_LEAST_MS, durationMs * TIMEOUT_FACTOR)
}

async function isNoticed(mutant: Mutant, tests: readonly Test[]): Promise<boolean> {
  const covering = tests.filter(({ coverage }) => isCovered(coverage, mutant.file, mutant.whole.start))
  const { pure = [], others = [] } = Object.groupBy(covering, ({ isPure }) => (isPure ? 'pure' : 'others'))
  for (const together of [pure, ...others.map((test) => [test])]) {
    const files = together.map(({ file }) => file)
    if (files.length > 0 && !(await runTests(files, {}, timeoutMsOf(together))).hasPassed) return true
  }
  return false
}

type TestRun = { readonly hasPassed: boolean; readonly processorMs: number }

/** Runs test files in one process until their end, the first failure or the timeout. */
function runTests(
  files: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<TestRun> {
  const child = spawn(process.execPath, ['run-tests.mjs', ...files], {
    cwd: project,
    env: { ...process.env, NODE_COMPILE_CACHE: join(project, '.compiled'), ...env },
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    timeout: Math.ceil(timeoutMs),
    killSignal: 'SIGKILL',
  })
  return new Promise((ended) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('✖')) child.kill('SIGKILL')
    })
    let processorMs = 0
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      processorMs = Number(chunk)
    })
    child.once('close', (code) => ended({ hasPassed: code === 0, processorMs }))
  })
}

/** A copy of the files that Git knows or would add, so that a change never reaches the files that a person edits. */
function copyOfProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  for (const file of listed.trim().split('\n')) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(file, join(folder, file))
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'run-tests.mjs'), RUN_TESTS)
  return folder
}
