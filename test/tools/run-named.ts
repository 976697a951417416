import { spawn } from 'node:child_process'

/**
 * Runs a benchmark or a long run by its name: `npm run bench -- latency`, `npm run soak -- guard --runs 10000`. Lists
 * the names without one. Each prints its figures beside its limits and exits with 1 when it misses one.
 */
type Program = {
  readonly summary: string
  /** The file, after the options of Node.js. */
  readonly words: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

const bench = (name: string, summary: string, ...options: string[]): [string, Program] => [
  name,
  { summary, words: [...options, `test/tools/bench/${name}.bench.ts`] },
]
const soak = (name: string, summary: string, file: string): [string, Program] => [name, { summary, words: [file] }]

const LARGE_HEAP = '--max-old-space-size=4000'

const PROGRAMS: Readonly<Record<string, ReadonlyMap<string, Program>>> = {
  bench: new Map([
    bench('cold', 'Load time of the package, beside an app of empty functions'),
    bench('console', 'What a person waits for in the console'),
    bench('core', 'Imports of connector data'),
    bench('criteria', 'Conditions on a large tenant, beside two other engines', '--expose-gc', LARGE_HEAP),
    bench('definitions', '300 collections and 100 links as files: exported, deleted, applied'),
    bench('ends', 'Memberships that end in the same minute'),
    bench('events', 'Events to a fast receiver beside silent ones, and their share of an evaluation'),
    bench('history', 'Storing and reading changes of members'),
    bench('http', 'HTTP requests, beside an empty function'),
    bench('insight', 'Explanations and plans over a large tenant', LARGE_HEAP),
    bench('job-changes', 'The record of 100,000 changes of a sync job'),
    bench('latency', 'Time from a change to the directory group'),
    bench('memberships', 'The memberships of a person in 200 of 5,000 collections'),
    bench('neighbours', 'What a large tenant costs the others'),
    bench('rekey', 'Imports that give all people other external ids'),
    bench('removal-plan', 'A held plan of 100,000 accounts'),
    bench('routes', 'Routes that read many records'),
    bench('scale', 'Cost and first limit with 10, 1,000 and 100,000 tenants'),
    bench('sweep', 'Sweeps of many tenants'),
    bench('sync', 'Sync jobs of large groups'),
    bench('visibility', 'Lists of what a person may read'),
  ]),
  soak: new Map([
    [
      'definitions',
      {
        summary: 'Random edits of definition files: 1,000 runs; DEFINITIONS_SEED repeats one',
        words: ['--test', '--test-timeout=14400000', 'test/api/definitions-edits.property.test.ts'],
        variables: { DEFINITIONS_RUNS: '1000' },
      },
    ],
    soak(
      'consistency',
      'Several instances, groups changed by hand: --runs --seed',
      'test/tools/bench/consistency.soak.ts',
    ),
    soak(
      'faults',
      'The whole service under faults: --minutes --instances --seed --restore --rollback',
      'test/tools/soak/soak.ts',
    ),
    soak('guard', 'The removal guard: --runs --seed', 'test/tools/bench/removal-guard.soak.ts'),
    soak('people', 'Merges and policies: --runs --seed --only', 'test/tools/bench/people.soak.ts'),
    [
      'plans',
      {
        summary: 'Plans of updates: 1,000 updates; PLAN_SEED repeats a tenant',
        words: ['--test', '--test-timeout=14400000', 'test/api/plan-criteria.property.test.ts'],
        variables: { PLAN_UPDATES: '1000' },
      },
    ],
  ]),
}

const [kind = '', name, ...options] = process.argv.slice(2)
const programs = PROGRAMS[kind] ?? new Map<string, Program>()
const program = programs.get(name ?? '')
if (program === undefined) {
  const lines = [...programs].map(([each, { summary }]) => `  ${each.padEnd(12)} ${summary}`)
  process.stdout.write(`usage: npm run ${kind} -- <name> [options]\n${lines.join('\n')}\n`)
  process.exitCode = name === undefined ? 0 : 1
} else {
  const env = { ...process.env, ...program.variables }
  const child = spawn(process.execPath, [...program.words, ...options], { stdio: 'inherit', env })
  process.exitCode = await new Promise<number>((ended) => child.once('exit', (code) => ended(code ?? 1)))
}
