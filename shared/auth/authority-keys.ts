import { type SigningKeys, signingKeys } from './signing-keys.ts'

/** The sets of keys with which an authority signs tokens, by the version of the tokens. */
export type AuthorityKeys = {
  readonly version1: SigningKeys
  readonly version2: SigningKeys
  /** Resolves when tokens of either version can be verified. @throws KeysUnavailable */
  ready(): Promise<void>
}

/** @param authorityUrl without a slash at its end */
export function authorityKeys(authorityUrl: string, nowMs: () => number): AuthorityKeys {
  const version1 = signingKeys(`${authorityUrl}/common/discovery/keys`, nowMs)
  const version2 = signingKeys(`${authorityUrl}/common/discovery/v2.0/keys`, nowMs)
  return {
    version1,
    version2,
    async ready() {
      await Promise.all([version1.ready(), version2.ready()])
    },
  }
}
