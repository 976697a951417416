import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DemoAnswer } from '../../../infra/local/directory/seed.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../../..')

/** The options that `npm start` passes to Node. */
const START_WORDS: readonly string[] = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .slice(1)

/** An environment that `npm start` runs in a process of its own, and access to it. */
export type StartedEnvironment = {
  readonly apiUrl: string
  readonly directoryUrl: string
  readonly demo: DemoAnswer
  /** The certificate authority that clients of the directory must trust. */
  readonly caFile: string
  readonly processId: number
  /** Its output so far. */
  said(): string
  /** Calls the directory, trusting its certificate authority for this call only. */
  directory(method: string, path: string, options?: DirectoryRequest): Promise<DirectoryReply>
  /** Stops or kills the process. Resolves with the exit code. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export type DirectoryRequest = {
  readonly token?: string
  readonly json?: unknown
  readonly form?: Record<string, string>
}
export type DirectoryReply = { readonly status: number; readonly json: unknown }

/** Child processes and folders to remove when the test's process ends, for any reason. */
const children = new Set<ChildProcess>()
const folders = new Set<string>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A data folder that is removed when the test's process ends. */
export function newDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'collections-test-'))
  folders.add(folder)
  return folder
}

/** The output and the exit code of a failed start. */
export async function failedStart(variables: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const child = spawnStart(variables)
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdout?.on('data', (chunk) => {
    // The start was expected to fail: waiting for the process to exit would never end.
    if (/^ready /m.test(String(chunk))) child.kill('SIGKILL')
  })
  const [code] = await once(child, 'close')
  return { code, stderr }
}

/** Runs `npm run demo -- --exit` on free ports. Resolves with its output and its exit code. */
export async function demoRun(variables: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawnStart(variables, ['--demo', '--exit'])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

/** Starts an environment on free ports and waits until it is ready. */
export async function startedEnvironment(
  dataFolder: string,
  variables: Record<string, string> = {},
): Promise<StartedEnvironment> {
  const child = spawnStart({ DATA_DIR: dataFolder, DEMO_IDENTITIES: '60', ...variables })
  let all = ''
  child.stdout?.on('data', (chunk) => {
    all += chunk
  })
  const said = await readyLines(child)
  const directoryUrl = /^directory +(\S+)$/m.exec(said)?.[1] ?? ''
  const apiUrl = /^ready (\S+)$/m.exec(said)?.[1] ?? ''
  const ca = readFileSync(join(dataFolder, 'ca.pem'), 'utf8')
  const directory: StartedEnvironment['directory'] = (method, path, options) =>
    directoryCall(`${directoryUrl}${path}`, method, ca, options)
  return {
    apiUrl,
    directoryUrl,
    directory,
    caFile: join(dataFolder, 'ca.pem'),
    processId: child.pid ?? 0,
    said: () => all,
    demo: (await directory('GET', '/local/demo')).json as DemoAnswer,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      child.kill(signal)
      const [code] = await once(child, 'close')
      return code
    },
  }
}

function spawnStart(variables: Record<string, string>, words: readonly string[] = []): ChildProcess {
  const child = spawn(process.execPath, [...START_WORDS, ...words], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, PORT: '0', DIRECTORY_PORT: '0', COSMOS_PORT: '0', SERVICE_BUS_PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

function readyLines(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk: unknown) => {
      said += chunk
      if (/^ready \S+$/m.test(said)) resolve(said)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('close', (code) => reject(new Error(`The environment ended with ${code} before it was ready:\n${said}`)))
  })
}

async function directoryCall(
  url: string,
  method: string,
  ca: string,
  { token, json, form }: DirectoryRequest = {},
): Promise<DirectoryReply> {
  const body = form === undefined ? json && JSON.stringify(json) : new URLSearchParams(form).toString()
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined
      ? {}
      : { 'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded' }),
  }
  const request = httpsRequest(url, { method, ca, headers })
  request.end(body)
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, json: text === '' ? undefined : JSON.parse(text) }
}
