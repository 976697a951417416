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

/** Milliseconds in a .NET time span: `[days.]hours:minutes:seconds[.fraction]`. */
function timeSpanMs(text: string): number {
  const match = /^(?:(\d+)\.)?([01]?\d|2[0-3]):([0-5]?\d):([0-5]?\d(?:\.\d{1,7})?)$/.exec(text)
  if (match === null) throw new Error(`"${text}" is not a time span in the format hours:minutes:seconds`)
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}

/** Connection strings by the names that functions give. */
export type AppSettings = Readonly<Record<string, string>>
