import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** Files of one name that have one subject, each on its own side. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  'attention.ts': 'What needs attention: in the console, and where it is counted',
  'collection-versions.ts': 'Versions of a collection: in the console, and where they are read',
  'connector-object-store.ts': 'A port and its adapter',
  'connector-spaces.ts': 'A port and its adapter',
  'core-object-changes.ts': 'A port and its adapter',
  'core-object-store.ts': 'A port and its adapter',
  'core-objects.ts': 'Core objects: the function, the routes, and their reads in the console',
  'csv.ts': 'CSV: written by the console, read by the import',
  'job-store.ts': 'A port and its adapter',
  'link-store.ts': 'A port and its adapter',
  'membership-store.ts': 'A port and its adapter',
  'mime-message.ts': 'Messages of mails: built, and read by the local directory',
  'notifications.ts': 'When people get mails: the routes and the use case',
  'connector-data.ts': 'Data of connectors: the routes and the use case',
  'deputies.ts': 'Deputies: the routes and the use case',
  'schema.ts': 'Schemas: of the attributes of conditions, and the parts that all schemas are made of',
  'sign-in.ts': 'Signing in: in the console, and in the definitions tool',
  'signing-keys.ts': 'Keys of tokens: those of the local directory, and those that are trusted',
  'tenant-store.ts': 'A port and its adapter',
  'telemetry.ts': 'Telemetry: started by the functions',
}

/** The name of a function, which the use case that it runs or the routes that it serves have as well. */
const FUNCTION_FILES = new Set(globSync('functions/*.ts', { cwd: PROJECT_FOLDER }).map((file) => basename(file)))

describe('A file name', () => {
  const files = globSync('{functions,shared,infra}/**/*.{ts,tsx}', { cwd: PROJECT_FOLDER })
  const byName = Map.groupBy(files, (file) => basename(file))
  const repeated = [...byName].filter(([, paths]) => paths.length > 1).map(([name]) => name)

  it('stands for one subject', () => {
    assert.ok(files.length > 500, String(files.length))
    assert.deepEqual(repeated.filter((name) => !FUNCTION_FILES.has(name) && !(name in SHARED_NAMES)).sort(), [])
  })

  it('is listed as shared only where it is', () => {
    assert.deepEqual(
      Object.keys(SHARED_NAMES).filter((name) => !repeated.includes(name)),
      [],
    )
  })
})
