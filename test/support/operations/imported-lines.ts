import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectorSpace } from '../../../infra/import/connector-space.ts'
import { runImport } from '../../../infra/import/run-import.ts'

/**
 * Imports objects from a file of a folder, and deletes what is missing without asking.
 * @returns The exit code, and what is printed after the first three lines, without the path.
 */
export async function importLines(
  folder: string,
  lines: readonly object[],
  space: ConnectorSpace,
): Promise<{ readonly code: number; readonly said: readonly string[] }> {
  const path = join(folder, 'all.jsonl')
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'))
  const said: string[] = []
  const options = { path, connectorId: 'hr', encoding: 'utf-8', isDryRun: false, deletesMissing: true } as const
  const connection = { apiUrl: '', token: undefined, credentials: undefined }
  const around = { space, progress: { show: () => undefined, end: () => undefined }, ask: undefined }
  const say = (line: string) => void said.push(line.replace(`${path}:`, ''))
  const code = await runImport({ ...options, isConfirmed: true, connection }, { ...around, say })
  return { code, said: said.slice(3) }
}
