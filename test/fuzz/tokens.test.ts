import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { callerAdmission } from '../../shared/auth/caller-admission.ts'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { CLIENT, openAuthority, RESOURCE_URI } from '../support/auth/authority-front.ts'
import { OTHER_TENANT, PERSON, SERVICE, TENANT } from '../support/local/directory-fixture.ts'

/** `FUZZ_REQUESTS=20000` runs longer; `FUZZ_SEED` repeats a run. */
const TOKENS_COUNT = Math.ceil(Number(process.env.FUZZ_REQUESTS ?? 2_000) / 10)
const SEED = process.env.FUZZ_SEED === undefined ? Math.trunc(performance.now() * 1_000) : Number(process.env.FUZZ_SEED)

const NOW_S = 1_893_456_000
const SCOPE = 'user_impersonation'
const REQUESTS_PER_MINUTE = 30

const authority = await openAuthority()
after(() => authority.close())

type Claims = Record<string, unknown>

/** A valid token of a user or an application, in one of the two versions. */
const valid = (kind: 'user' | 'application', version: '1.0' | '2.0'): Claims => ({
  ver: version,
  iss: version === '2.0' ? `${authority.url}/${TENANT}/v2.0` : `https://sts.windows.net/${TENANT}/`,
  aud: SERVICE,
  tid: TENANT,
  oid: PERSON,
  ...(version === '2.0' ? { azp: CLIENT } : { appid: CLIENT }),
  ...(kind === 'user' ? { sub: 'pairwise', scp: `openid ${SCOPE}` } : { sub: PERSON, idtyp: 'app' }),
  iat: NOW_S,
  nbf: NOW_S,
  exp: NOW_S + 3600,
})

/** Changes that leave a token valid. */
const HARMLESS: readonly Claims[] = [
  { aud: RESOURCE_URI },
  { aud: `${RESOURCE_URI}/` },
  { aud: ['https://elsewhere.example', SERVICE] },
  { exp: NOW_S - 59 },
  { nbf: NOW_S + 59 },
  { roles: ['User', 'made-up', 7] },
  { roles: 'User' },
]

/** Each change alone makes a token invalid. */
const HARMFUL: readonly Claims[] = [
  { aud: 'https://graph.microsoft.com' },
  { aud: undefined },
  { iss: `https://elsewhere.example/${TENANT}/v2.0` },
  { iss: undefined },
  { tid: OTHER_TENANT },
  { tid: 'tenant' },
  { tid: undefined },
  { oid: 'me' },
  { oid: undefined },
  { ver: '3.0' },
  { ver: undefined },
  { exp: NOW_S - 61 },
  { exp: undefined },
  { iat: undefined },
  { nbf: NOW_S + 61 },
  { nonce: 'n' },
  { at_hash: 'h' },
  { scp: 'openid profile', idtyp: undefined, sub: 'pairwise' },
  { scp: undefined, idtyp: 'user' },
  { scp: [SCOPE], idtyp: undefined, sub: 'pairwise' },
]

const KEYS = ['current', 'unpublished', 'otherIssuer'] as const

const some = (changes: readonly Claims[]) => fc.subarray([...changes], { maxLength: 3 })
const token = fc.record({
  kind: fc.constantFrom('user', 'application'),
  version: fc.constantFrom('1.0', '2.0'),
  harmless: some(HARMLESS),
  harmful: fc.oneof(fc.constant([]), some(HARMFUL)),
  key: fc.oneof({ weight: 8, arbitrary: fc.constant(KEYS[0]) }, fc.constantFrom(...KEYS)),
  header: fc.constantFrom<object>({}, {}, {}, { alg: 'none' }, { kid: 'made-up' }, { kid: '../../key' }),
})

describe('generated tokens', () => {
  const verify = tokenVerifier(
    { authorityUrl: authority.url, audiences: [SERVICE, RESOURCE_URI], scope: SCOPE },
    () => NOW_S * 1000,
  )

  it('are accepted if all claims, the key and the header are valid, and refused otherwise', async () => {
    const outcomes = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(token, async ({ kind, version, harmless, harmful, key, header }) => {
        const claims: Claims = Object.assign({}, valid(kind, version), ...harmless, ...harmful)
        const text = await authority.signed(claims, key, header)
        const isValid = harmful.length === 0 && key === 'current' && Object.keys(header).length === 0
        const outcome = await outcomeOf(`Bearer ${text}`)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        assert.equal(outcome, isValid ? `${kind} of ${TENANT}` : 'TokenInvalid', JSON.stringify(claims))
      }),
      { numRuns: TOKENS_COUNT, seed: SEED },
    )
    assert.ok(outcomes.size >= 3, `only ${[...outcomes.keys()]}`)
  })

  it('are refused for each invalid claim alone', async () => {
    for (const harmful of HARMFUL) {
      const text = await authority.signed({ ...valid('user', '2.0'), ...harmful })
      assert.equal(await outcomeOf(`Bearer ${text}`), 'TokenInvalid', JSON.stringify(harmful))
    }
  })

  it('are refused after any change of their text', async () => {
    const signed = await authority.signed(valid('user', '2.0'))
    const at = fc.nat({ max: signed.length - 1 })
    await fc.assert(
      fc.asyncProperty(at, fc.constantFrom('A', 'b', '-', '.', ' ', 'é', ''), async (index, character) => {
        const changed = signed.slice(0, index) + character + signed.slice(index + 1)
        // The last character of each part has bits that base64url ignores.
        fc.pre(changed !== signed && bytesOf(changed) !== bytesOf(signed))
        assert.equal(await outcomeOf(`Bearer ${changed}`), 'TokenInvalid')
      }),
      { numRuns: TOKENS_COUNT, seed: SEED },
    )
  })

  async function outcomeOf(authorization: string): Promise<string> {
    try {
      const { kind, tenantId } = await verify(authorization)
      return `${kind} of ${tenantId}`
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error))
      return error.code
    }
  }
})

const bytesOf = (text: string): string =>
  text
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex'))
    .join('.')

describe('generated rates', () => {
  const steps = fc.array(fc.record({ caller: fc.nat({ max: 2 }), pauseMs: fc.nat({ max: 4_000 }) }), { maxLength: 200 })

  it('admit within any minute at most twice the limit of each caller, and refuse only callers that used it up', () => {
    fc.assert(
      fc.property(steps, (sent) => {
        let elapsedMs = 0
        const settings = {
          tenants: 'any',
          requestsPerCallerPerMinute: REQUESTS_PER_MINUTE,
          requestsPerTenantPerMinute: 0,
        } as const
        const admit = callerAdmission(settings, () => elapsedMs)
        const admittedMs = new Map<number, number[]>()
        for (const { caller, pauseMs } of sent) {
          elapsedMs += pauseMs
          const times = admittedMs.get(caller) ?? []
          const lastMinute = times.filter((atMs) => atMs > elapsedMs - 60_000).length
          if (isAdmitted(() => admit({ ...PERSON_CALLER, objectId: `caller ${caller}` }))) {
            admittedMs.set(caller, [...times, elapsedMs])
            assert.ok(lastMinute < 2 * REQUESTS_PER_MINUTE)
          } else assert.ok(lastMinute >= REQUESTS_PER_MINUTE - 1, `refused after ${lastMinute} in a minute`)
        }
      }),
      { numRuns: TOKENS_COUNT, seed: SEED },
    )
  })
})

const PERSON_CALLER = {
  kind: 'user',
  tenantId: TENANT,
  objectId: PERSON,
  clientId: CLIENT,
  roles: new Set<never>(),
} as const

function isAdmitted(admit: () => void): boolean {
  try {
    admit()
    return true
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'TooManyRequests' && (error.retryAfterS ?? 0) > 0)
    return false
  }
}
