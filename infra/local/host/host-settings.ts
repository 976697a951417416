import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Supported settings of `host.json`, with the defaults of the platform. */
export type HostJson = {
  /** Without leading and trailing slashes. Can be empty. */
  readonly routePrefix: string
  readonly serviceBus: {
    readonly maxConcurrentCalls: number
    readonly maxAutoLockRenewalDurationMs: number
  }
}

type HostJsonFile = {
  version?: unknown
  extensions?: {
    http?: { routePrefix?: string }
    serviceBus?: { maxConcurrentCalls?: number; maxAutoLockRenewalDuration?: string }
  }
}

/** @throws Error if the file is missing, not JSON, or contains unsupported values */
export async function readHostJson(appFolder: string): Promise<HostJson> {
  const path = join(appFolder, 'host.json')
  const file = await readFile(path, 'utf8')
    .then((text): HostJsonFile => JSON.parse(text))
    .catch((cause: unknown) => {
      throw new Error(`Cannot read ${path}`, { cause })
    })
  if (file.version !== '2.0') throw new Error(`${path} must have "version": "2.0"`)
  const { http, serviceBus } = file.extensions ?? {}
  const maxConcurrentCalls = serviceBus?.maxConcurrentCalls ?? 16
  if (!Number.isInteger(maxConcurrentCalls) || maxConcurrentCalls < 1) {
    throw new Error(`${path}: maxConcurrentCalls must be a positive integer`)
  }
  return {
    routePrefix: (http?.routePrefix ?? 'api').replace(/^\/+|\/+$/g, ''),
    serviceBus: {
      maxConcurrentCalls,
      maxAutoLockRenewalDurationMs: timeSpanMs(serviceBus?.maxAutoLockRenewalDuration ?? '00:05:00'),
    },
  }
}

/** Milliseconds in a .NET time span of less than a day. */
function timeSpanMs(text: string): number {
  const match = /^(\d\d):(\d\d):(\d\d)$/.exec(text)
  if (match === null) throw new Error(`"${text}" is not a time span in the format hours:minutes:seconds`)
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number)
  return ((hours * 60 + minutes) * 60 + seconds) * 1000
}

/** Connection strings by the names that functions give. */
export type AppSettings = Readonly<Record<string, string>>
