import { render } from 'preact'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import { apiOf } from './api.ts'
import { App, SignInView } from './app.tsx'
import { shownTimeZone } from './language/shown-time-zone.ts'
import { preferredLanguage, showLanguage } from './language/texts.ts'
import { followLinks, readAddress } from './router.ts'
import { signIn } from './sign-in.ts'
import { passToken, waitingChannel } from './token-window.ts'

const root = document.querySelector('#console') as HTMLElement

async function start(): Promise<void> {
  await showLanguage(preferredLanguage(navigator.languages))
  const result = await signIn()
  if ('required' in result) {
    render(<SignInView reason={result.reason} />, root)
    return
  }
  const { session } = result
  const channel = waitingChannel()
  if (channel !== undefined) return passToken(channel, session)
  readAddress()
  const api = apiOf(session)
  const me = await api.read<CallerDto>('/collections/beta/me')
  shownTimeZone.value = me.timeZone
  followLinks()
  render(<App api={api} me={me} username={session.username} />, root)
}

start().catch((error: unknown) => {
  render(<SignInView reason={error instanceof Error ? error.message : String(error)} />, root)
})
