import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What this host reads of `host.json`, with the platform's defaults. */
export type HostJson = {
  /** Without slashes at its ends; may be empty. */
  readonly routePrefix: string
  readonly serviceBus: {
    readonly maxConcurrentCalls: number
    readonly maxAutoLockRenewalDurationMs: number
    readonly autoCompleteMessages: boolean
  }
}

type HostJsonFile = {
  version?: unknown
  extensions?: {
    http?: { routePrefix?: string }
    serviceBus?: { maxConcurrentCalls?: number; maxAutoLockRenewalDuration?: string; autoCompleteMessages?: boolean }
  }
}

/** @throws when the file is missing, is no JSON or says something this host cannot follow. */
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
    throw new Error(`${path}: maxConcurrentCalls must be a whole number above 0`)
  }
  return {
    routePrefix: (http?.routePrefix ?? 'api').replace(/^\/+|\/+$/g, ''),
    serviceBus: {
      maxConcurrentCalls,
      maxAutoLockRenewalDurationMs: timeSpanMs(serviceBus?.maxAutoLockRenewalDuration ?? '00:05:00'),
      autoCompleteMessages: serviceBus?.autoCompleteMessages ?? true,
    },
  }
}

/** Milliseconds in a .NET time span: `[days.]hours:minutes:seconds[.fraction]`. */
function timeSpanMs(text: string): number {
  const match = /^(?:(\d+)\.)?([01]?\d|2[0-3]):([0-5]?\d):([0-5]?\d(?:\.\d{1,7})?)$/.exec(text)
  if (match === null) throw new Error(`"${text}" is no time span of the form hours:minutes:seconds`)
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}
