import { copyFileSync, existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Organisation } from './organisation.ts'

const FAULTS_SHOWN = 3

/** What was erased is nowhere in the database. */
export function compareErased({ erasedNins }: Organisation, databaseFile: string): string[] {
  if (erasedNins.size === 0) return []
  const database = new DatabaseSync(copied(databaseFile))
  try {
    const search = database.prepare(
      `SELECT containers.id AS container, docs.body AS body FROM docs JOIN containers ON containers.number = docs.container
       WHERE docs.body LIKE '%' || ? || '%' LIMIT ${FAULTS_SHOWN}`,
    )
    return [...erasedNins].flatMap((nin) =>
      search
        .all(nin)
        .map(({ container, body }) => `The erased number ${nin} is in ${container}: ${String(body).slice(0, 500)}`),
    )
  } finally {
    database.close()
  }
}

/** The database keeps its file locked. Its log has what is not in the file yet. */
function copied(file: string): string {
  const copy = `${file}.copy`
  for (const suffix of ['', '-wal']) if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix)
  return copy
}
