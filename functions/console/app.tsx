import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import type { Api } from './api.ts'
import { attention, loadAttention } from './attention.ts'
import { DoneText } from './components/actions.tsx'
import { Badge } from './components/fields.tsx'
import { lazy } from './components/lazy.tsx'
import { Page, useScrolledNav } from './components/page.tsx'
import type { Target } from './components/palette.tsx'
import { UndoNotice } from './components/undo-notice.tsx'
import { hasSameClock, ownTimeZone, shownTimeZone } from './language/shown-time-zone.ts'
import { chooseLanguage, languageCode, numberOf, t } from './language/texts.ts'
import { hrefOf, matched, navigate, outcome, viewPath } from './router.ts'
import { ConsoleContext } from './session.ts'
import { messageOf, signInWithPage, signOut } from './sign-in.ts'
import { MENU_PARTS, VIEWS, type View } from './views.ts'

const Palette = lazy(async () => (await import('./components/palette.tsx')).Palette)

type AppProps = { readonly api: Api; readonly me: CallerDto; readonly username: string }

/** The console of a person who is signed in: the head with search and menu, and the current view. */
export function App({ api, me, username }: AppProps) {
  const path = viewPath.value
  const allowed = useMemo(() => VIEWS.filter(({ isFor }) => isFor(me)), [me])
  const [isSearching, setSearching] = useState(false)
  const start = allowed.find(({ menu }) => menu !== undefined)?.pattern
  useEffect(() => {
    if (path === '/' && start !== undefined) navigate(start)
    else if (start !== undefined) void loadAttention(api)
  }, [path, start])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return
      event.preventDefault()
      setSearching(true)
    }
    if (start === undefined) return
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [start])
  return (
    <ConsoleContext.Provider value={{ api, me }}>
      <a class="skip" href="#content">
        {t('skip')}
      </a>
      <div class="frame">
        <header class="top">
          <span class="product">{t('product')}</span>
          <div class="person">
            {start !== undefined && (
              <button type="button" aria-keyshortcuts="Control+K" onClick={() => setSearching(true)}>
                {t('find')} <kbd>Ctrl K</kbd>
              </button>
            )}
            <span>{me.displayName ?? username}</span>
            <LanguageButton />
            <button type="button" class="quiet" onClick={() => void signOut()}>
              {t('signOut')}
            </button>
          </div>
        </header>
        {start !== undefined && <Menu views={allowed} path={path} />}
        <main id="content" tabIndex={-1}>
          <DoneText>{outcome.value}</DoneText>
          <UndoNotice />
          <CurrentView path={path} views={allowed} />
        </main>
        <TimeZoneNote />
      </div>
      {isSearching && <Palette views={targetsOf(allowed)} onClose={() => setSearching(false)} />}
    </ConsoleContext.Provider>
  )
}

/** The views of the menu, as what the search can open. */
function targetsOf(views: readonly View[]): readonly Target[] {
  return views.flatMap(({ pattern, menu }) =>
    menu === undefined ? [] : [{ path: pattern, name: t(menu[0]), detail: '', kind: 'view' as const }],
  )
}

function Menu({ views, path }: { readonly views: readonly View[]; readonly path: string }) {
  return (
    <nav ref={useScrolledNav(path)} class="menu" aria-label={t('navigation')}>
      {MENU_PARTS.map((part) => {
        const entries = views.flatMap(({ pattern, menu, count }) => {
          return menu?.[1] === part ? [{ pattern, name: menu[0], count: counted(count) }] : []
        })
        if (entries.length === 0) return null
        return (
          <div key={part}>
            <h2>{t(part)}</h2>
            <ul>
              {entries.map(({ pattern, name, count }) => (
                <li key={pattern}>
                  <a href={hrefOf(pattern)} aria-current={isWithin(path, pattern) ? 'page' : undefined}>
                    {t(name)}
                    {count > 0 && (
                      <>
                        {' '}
                        <Badge kind="warn">{numberOf(count)}</Badge>
                      </>
                    )}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

/** The number beside an entry of the menu; zero until it is known. */
function counted(count: View['count']): number {
  return count === undefined || attention.value === undefined ? 0 : count(attention.value)
}

/** A sync is reached from its link. */
function isWithin(path: string, pattern: string): boolean {
  return path === pattern || path.startsWith(`${pattern}/`) || (pattern === '/links' && path.startsWith('/jobs/'))
}

function CurrentView({ path, views }: { readonly path: string; readonly views: readonly View[] }) {
  if (views.length === 0) return <Page title={t('product')}>{t('noAccess')}</Page>
  if (path === '/') return null
  for (const { pattern, view: Shown } of views) {
    const parameters = matched(pattern, path)
    // The tabs of a record are one view.
    if (parameters !== undefined) return <Shown key={parameters.id ?? path} parameters={parameters} />
  }
  const isForOthers = VIEWS.some(({ pattern }) => matched(pattern, path) !== undefined)
  if (isForOthers) return <Page title={t('forbiddenTitle')}>{t('forbidden')}</Page>
  return <Page title={t('notFoundTitle')}>{t('notFound')}</Page>
}

/** Says in which time zone times are, where the clock of the person shows others. */
function TimeZoneNote() {
  const [zone, own] = [shownTimeZone.value ?? ownTimeZone(), ownTimeZone()]
  if (hasSameClock(zone, own, new Date().getFullYear())) return null
  return <footer class="zone hint">{t('timesInZone', { zone, own })}</footer>
}

function LanguageButton() {
  const other = languageCode.value === 'nb' ? 'en' : 'nb'
  return (
    <button
      type="button"
      class="quiet"
      lang={other}
      onClick={() => {
        // What an action has done was said in the other language.
        outcome.value = ''
        void chooseLanguage(other)
      }}
    >
      {t('language')}
    </button>
  )
}

/** What a person sees who is not signed in. */
export function SignInView({ reason }: { readonly reason: string | undefined }) {
  const [failure, setFailure] = useState(reason)
  const start = () => void signInWithPage().catch((error: unknown) => setFailure(messageOf(error)))
  return (
    <main class="sign-in">
      <h1>{t('product')}</h1>
      <p>{failure === undefined ? t('signInExplained') : t('signInFailed', { reason: failure })}</p>
      <button type="button" class="primary" onClick={start}>
        {t('signIn')}
      </button>
    </main>
  )
}
