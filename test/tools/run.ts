import { spawn } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Runs the test files that match the patterns of the command line; by default, all of them. A third of the time of a
 * short test file is the start of its process and the loading of 1,300 modules, so that files of these folders share a
 * process, and all processes share compiled modules. Other files start processes themselves, measure time, or change
 * settings of the process.
 */
const SHARED_FOLDERS = ['local', 'events', 'mail', 'api', 'jobs', 'http', 'domain', 'contract']
const FILES_OF_PROCESS_COUNT = 10
/** Properties take longer than all other tests of a process together: they have processes of their own. */
const PROPERTY = /\.property\.test\.ts$/
/** The test files that share one started environment: those of a line run in one process. */
const SHARED_ENVIRONMENTS = [
  ['probes', 'program-sign-in', 'requests', 'roles', 'wire-limits'],
  ['events', 'generated-client', 'joining', 'shell-calls'],
].map((names) => names.map((name) => `test/journeys/${name}.test.ts`))
/** Twice the processors of CI: many tests wait for other processes, or for time to pass. */
const PROCESSES_COUNT = 4
/** Tests allocate much that dies at once. With the default of 16 MB, collecting it takes a tenth of their time. */
const YOUNG_GENERATION = '--max-semi-space-size=64'
const COMPILE_CACHE = resolve('node_modules/.cache/compiled')
const UNTRACKED_PROMISES = new URL('untracked-promises.ts', import.meta.url).href
const TIME_LIMIT = resolve(import.meta.dirname, 'process-time-limit.ts')

const files = globSync(process.argv.length > 2 ? process.argv.slice(2) : ['test/**/*.test.ts']).sort()
const folderOf = (file: string): string => file.split('/')[1] ?? ''
const isShared = (file: string): boolean => SHARED_FOLDERS.includes(folderOf(file)) && !PROPERTY.test(file)

/** The files of each process, in the order in which the processes start: the long ones first. */
function groups(): readonly (readonly string[])[] {
  const together = SHARED_ENVIRONMENTS.map((all) => all.filter((file) => files.includes(file)))
  const alone = files.filter((file) => !isShared(file) && !together.flat().includes(file)).map((file) => [file])
  const shared = SHARED_FOLDERS.flatMap((folder) => {
    const all = files.filter((file) => folderOf(file) === folder && isShared(file))
    const count = Math.ceil(all.length / FILES_OF_PROCESS_COUNT)
    // Neighbours by name have similar lengths: each process takes every n-th file.
    return Array.from({ length: count }, (_, index) => all.filter((_file, position) => position % count === index))
  })
  return [...alone, ...together.filter(({ length }) => length > 0), ...shared]
}

/** The test runner starts a process for each file: one that imports the files of a group, one after the other. */
function entryOf(group: readonly string[]): string {
  return [TIME_LIMIT, ...group]
    .map((file) => `await import(${JSON.stringify(pathToFileURL(resolve(file)).href)})\n`)
    .join('')
}

mkdirSync(COMPILE_CACHE, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'tests-'))
try {
  const entries = groups().map((group, index) => {
    // The test runner sorts files by name.
    const entry = join(folder, `${String(index).padStart(3, '0')}.test.mjs`)
    writeFileSync(entry, entryOf(group))
    return entry
  })
  const options = [YOUNG_GENERATION, '--test', `--test-concurrency=${PROCESSES_COUNT}`, '--import', UNTRACKED_PROMISES]
  const runner = spawn(process.execPath, [...options, ...entries], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  })
  process.exitCode = await new Promise((ended) => runner.once('exit', (code) => ended(code ?? 1)))
} finally {
  rmSync(folder, { recursive: true })
}
