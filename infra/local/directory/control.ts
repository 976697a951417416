import { Type } from 'typebox'
import type { Faults } from './faults.ts'
import { ControlRefusal, controlBody } from './faults.ts'
import type { SentMail } from './graph/exchange.ts'
import type { RecentList } from './recent-list.ts'
import type { RequestRecord } from './request-log.ts'
import type { DemoAnswer } from './seed.ts'
import { KEY_NAMES, type SigningKeys } from './signing-keys.ts'

type JsonAnswer = { readonly status: number; readonly body: unknown }

type ControlDependencies = {
  readonly demo: () => DemoAnswer
  readonly log: RecentList<RequestRecord>
  readonly mails: RecentList<SentMail>
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
      GET: () => ({ status: 200, body: deps.mails.all().toReversed() }),
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

const TokenRequest = Type.Object(
  {
    claims: Type.Record(Type.String(), Type.Unknown()),
    header: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    key: Type.Optional(Type.Enum([...KEY_NAMES])),
  },
  { additionalProperties: false },
)

function signedToken(body: unknown, keys: SigningKeys): string {
  const { claims, header, key } = controlBody(TokenRequest, body)
  return keys.signed(claims, key, header)
}
