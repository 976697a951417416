import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import type { Api } from './api.ts'
import { Page } from './components/page.tsx'
import type { MessageKey } from './language/english.ts'
import { languageCode, showLanguage, t } from './language/texts.ts'
import { CollectionView } from './pages/collection.tsx'
import { CollectionEditor } from './pages/collection-editor.tsx'
import { CollectionsView } from './pages/collections.tsx'
import { ConnectorsView, ConnectorView } from './pages/connectors.tsx'
import { InboxView } from './pages/inbox.tsx'
import { LinkView } from './pages/link.tsx'
import { LinksView, NewLinkView } from './pages/links.tsx'
import { JoinView, MeView } from './pages/me.tsx'
import { PeopleView, PersonView } from './pages/people.tsx'
import { SettingsView } from './pages/settings.tsx'
import { hrefOf, matched, navigate, viewPath } from './router.ts'
import { ConsoleContext, isCollectionsAdministrator, isCoreAdministrator, isPerson } from './session.ts'
import { signInWithPage, signOut } from './sign-in.ts'

type Parameters = Readonly<Record<string, string>>
type View = {
  readonly pattern: string
  readonly view: ComponentType<{ parameters: Parameters }>
  /** Who can open the view. */
  readonly isFor: (me: CallerDto) => boolean
  /** The name in the menu. */
  readonly menu?: MessageKey
}

/** All views. The first one in the menu that the person can open is the start page. */
const VIEWS: readonly View[] = [
  { pattern: '/collections', view: CollectionsView, isFor: isCollectionsAdministrator, menu: 'collections' },
  { pattern: '/collections/new', view: CollectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id', view: CollectionView, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/edit', view: CollectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/links', view: LinksView, isFor: isCollectionsAdministrator, menu: 'links' },
  { pattern: '/links/new/:id', view: NewLinkView, isFor: isCollectionsAdministrator },
  { pattern: '/links/:id', view: LinkView, isFor: isCollectionsAdministrator },
  { pattern: '/settings', view: SettingsView, isFor: isCollectionsAdministrator, menu: 'settings' },
  { pattern: '/inbox', view: InboxView, isFor: isPerson, menu: 'inbox' },
  { pattern: '/me', view: MeView, isFor: isPerson, menu: 'me' },
  { pattern: '/join', view: JoinView, isFor: isPerson, menu: 'join' },
  { pattern: '/connectors', view: ConnectorsView, isFor: isCoreAdministrator, menu: 'connectors' },
  { pattern: '/connectors/:id', view: ConnectorView, isFor: isCoreAdministrator },
  { pattern: '/people', view: PeopleView, isFor: isCoreAdministrator, menu: 'people' },
  { pattern: '/people/:id', view: PersonView, isFor: isCoreAdministrator },
]

type AppProps = { readonly api: Api; readonly me: CallerDto; readonly username: string }

export function App({ api, me, username }: AppProps) {
  const path = viewPath.value
  const allowed = VIEWS.filter(({ isFor }) => isFor(me))
  const menu = allowed.flatMap((view) => (view.menu === undefined ? [] : [{ ...view, menu: view.menu }]))
  const start = menu[0]?.pattern
  useEffect(() => {
    if (path === '/' && start !== undefined) navigate(start)
  }, [path, start])
  return (
    <ConsoleContext.Provider value={{ api, me }}>
      <a class="skip" href="#content">
        {t('skip')}
      </a>
      <header class="top">
        <strong>{t('product')}</strong>
        {menu.length > 0 && (
          <nav aria-label={t('navigation')}>
            {menu.map(({ pattern, menu: name }) => (
              <a key={pattern} href={hrefOf(pattern)} aria-current={path.startsWith(pattern) ? 'page' : undefined}>
                {t(name)}
              </a>
            ))}
          </nav>
        )}
        <div class="person">
          <span>{me.displayName ?? username}</span>
          <LanguageButton />
          <button type="button" class="quiet" onClick={() => void signOut()}>
            {t('signOut')}
          </button>
        </div>
      </header>
      <main id="content">
        <CurrentView path={path} views={allowed} />
      </main>
    </ConsoleContext.Provider>
  )
}

function CurrentView({ path, views }: { readonly path: string; readonly views: readonly View[] }) {
  if (views.length === 0) return <Page title={t('product')}>{t('noAccess')}</Page>
  if (path === '/') return null
  for (const { pattern, view: Shown } of views) {
    const parameters = matched(pattern, path)
    if (parameters !== undefined) return <Shown key={path} parameters={parameters} />
  }
  return <Page title={t('product')}>{t('notFound')}</Page>
}

function LanguageButton() {
  const other = languageCode.value === 'nb' ? 'en' : 'nb'
  return (
    <button type="button" class="quiet" lang={other} onClick={() => void showLanguage(other)}>
      {t('language')}
    </button>
  )
}

/** What a person sees who is not signed in. */
export function SignInView({ reason }: { readonly reason: string | undefined }) {
  return (
    <main class="sign-in">
      <h1>{t('product')}</h1>
      <p>{reason === undefined ? t('signInExplained') : t('signInFailed', { reason })}</p>
      <button type="button" class="primary" onClick={() => void signInWithPage()}>
        {t('signIn')}
      </button>
    </main>
  )
}
