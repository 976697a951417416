import type { Session } from './sign-in.ts'

/** The page that the API reference opens in a window of its own. */
const TOKEN_PAGE_PATH = '/console/api-token'

/** The channel on which another page of this origin waits for a token. Undefined on all other pages. */
export function waitingChannel(): string | undefined {
  if (location.pathname !== TOKEN_PAGE_PATH) return undefined
  return new URLSearchParams(location.search).get('channel') ?? undefined
}

/** Passes the token of the person who has signed in, and closes the window. Pages of other origins cannot listen. */
export async function passToken(channel: string, session: Session): Promise<void> {
  const token = await session.accessToken()
  new BroadcastChannel(channel).postMessage({ token, username: session.username })
  close()
}
