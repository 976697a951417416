import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { ApiCall } from '../../../infra/import/api-connection.ts'
import { connectorSpace } from '../../../infra/import/connector-space.ts'
import { digestOfData } from '../../../infra/import/plan-import.ts'
import { runImport } from '../../../infra/import/run-import.ts'
import type { Send } from './core-data-service.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** A folder for the tests of one file, deleted after them. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'import-'))
  folders.push(folder)
  return folder
}

type Source = { readonly id: string; readonly send: Send }

/** Imports a folder and deletes what is missing. @returns the exit code */
export function runImportOf(
  { id, send }: Source,
  path: string,
  say: (line: string) => void = () => undefined,
  isDryRun = false,
): Promise<number> {
  const call: ApiCall = async (method, path, body) => (await send(method, path, body)).body
  const space = connectorSpace(id, call, digestOfData)
  const connection = { apiUrl: '', token: undefined, credentials: undefined }
  const flags = { encoding: 'utf-8', isDryRun, deletesMissing: true, isConfirmed: true } as const
  const progress = { show: () => undefined, end: () => undefined }
  return runImport({ path, connectorId: id, ...flags, connection }, { space, progress, ask: undefined, say })
}
