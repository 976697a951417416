/** The modules that decide, by the name that `npm run mutate -- <name>` takes. */
export const DECISION_MODULES: Readonly<Record<string, readonly string[]>> = {
  conditions: [
    'shared/domain/criteria/check-condition.ts',
    'shared/domain/criteria/evaluation.ts',
    'shared/domain/criteria/evaluation-order.ts',
    'shared/domain/criteria/leaf-test.ts',
    'shared/domain/criteria/text-test.ts',
  ],
  'sync-plan': ['shared/domain/sync/plan-sync.ts'],
  'removal-guard': ['shared/domain/sync/removal-guard.ts', 'shared/domain/group-links/removal-window.ts'],
  leases: [
    'shared/kernel/lease-expiry.ts',
    'shared/domain/group-links/lease.ts',
    'shared/domain/group-links/job-transitions.ts',
  ],
  requests: ['shared/domain/membership-requests/decide-request.ts'],
  joining: ['shared/domain/connectors/identity-resolver.ts'],
  dispatch: ['shared/http/dispatch.ts', 'shared/http/match-route.ts'],
  tokens: ['shared/auth/token-verifier.ts', 'shared/auth/caller-admission.ts'],
  cursors: ['shared/http/paging.ts'],
  idempotency: ['shared/domain/idempotency/run-once.ts'],
}

/** A mutant that behaves like the original, with the reason. The text of its line identifies it. */
export type Equivalent = {
  readonly file: string
  readonly source: string
  readonly change: string
  readonly reason: string
}

export const EQUIVALENT_MUTANTS: readonly Equivalent[] = [
  {
    file: 'shared/http/paging.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the line
    source: "const isExact = cursor === `${PREFIX}${bytes.toString('base64url')}` && bytes.length > MAC_BYTES",
    change: '> → >=',
    reason: 'A cursor of 32 bytes has an empty position. No signature of an empty position is ever given out.',
  },
]
