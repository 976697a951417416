import type { Faults } from './faults.ts'
import { ControlRefusal, controlBody } from './faults.ts'
import type { RequestLog } from './request-log.ts'
import type { DemoAnswer } from './seed.ts'
import type { SentMails } from './sent-mails.ts'
import { type Claims, KEY_NAMES, type KeyName, type SigningKeys } from './signing-keys.ts'

type JsonAnswer = { readonly status: number; readonly body: unknown }

type ControlDependencies = {
  readonly demo: () => DemoAnswer
  readonly log: RequestLog
  readonly mails: SentMails
  readonly faults: Faults
  readonly keys: SigningKeys
}

/** Serves the control routes `/local/...` of the local directory. */
export function control(deps: ControlDependencies) {
  const routes: Record<string, Record<string, (text: string) => JsonAnswer>> = {
    '/local/demo': { GET: () => ({ status: 200, body: deps.demo() }) },
    '/local/requests': {
      GET: () => ({ status: 200, body: deps.log.all() }),
      DELETE: () => done(deps.log.clear),
    },
    '/local/mails': {
      GET: () => ({ status: 200, body: deps.mails.newestFirst() }),
      DELETE: () => done(deps.mails.clear),
    },
    '/local/faults': {
      POST: (text) => done(() => deps.faults.add(json(text))),
      DELETE: () => done(deps.faults.clear),
    },
    '/local/tokens': { POST: (text) => ({ status: 200, body: { token: signedToken(json(text), deps.keys) } }) },
  }
  return (method: string, path: string, text: string): JsonAnswer => {
    const methods = routes[path]
    if (methods === undefined) return refusal(404, `${path} does not exist. Use ${Object.keys(routes).join(', ')}`)
    const run = methods[method]
    if (run === undefined) return refusal(405, `${path} supports ${Object.keys(methods).join(' and ')} only`)
    try {
      return run(text)
    } catch (error) {
      if (!(error instanceof ControlRefusal)) throw error
      return refusal(400, error.message)
    }
  }
}

function done(act: () => void): JsonAnswer {
  act()
  return { status: 200, body: {} }
}

const refusal = (status: number, message: string): JsonAnswer => ({ status, body: { message } })

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ControlRefusal('The body is not JSON', { cause })
  }
}

function signedToken(body: unknown, keys: SigningKeys): string {
  const { claims, header = {}, key = 'current' } = controlBody(body, ['claims', 'header', 'key'])
  if (!isObject(claims)) throw new ControlRefusal('claims must be an object')
  if (!isObject(header)) throw new ControlRefusal('header must be an object')
  const name: KeyName | undefined = KEY_NAMES.find((known) => known === key)
  if (name === undefined) throw new ControlRefusal(`key must be one of ${KEY_NAMES.join(', ')}`)
  return keys.signed(claims, name, header)
}

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
