import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import type { Api } from './api.ts'
import { Done } from './components/actions.tsx'
import { lazyView } from './components/lazy-view.tsx'
import { Page } from './components/page.tsx'
import { UndoNotice } from './components/undo-notice.tsx'
import type { MessageKey } from './language/english.ts'
import { languageCode, showLanguage, t } from './language/texts.ts'
import { CollectionView } from './pages/collection.tsx'
import { CollectionsView } from './pages/collections.tsx'
import { ConnectorsView, ConnectorView } from './pages/connectors.tsx'
import { InboxView, RequestView } from './pages/inbox.tsx'
import { JobView } from './pages/job.tsx'
import { JoinView } from './pages/join.tsx'
import { LinkView } from './pages/link.tsx'
import { LinksView } from './pages/links.tsx'
import { MeView } from './pages/me.tsx'
import { NewLinkView } from './pages/new-link.tsx'
import { PeopleView, PersonView } from './pages/people.tsx'
import { SettingsView } from './pages/settings.tsx'
import { TeamView } from './pages/team.tsx'
import { hrefOf, matched, navigate, outcome, viewPath } from './router.ts'
import { ConsoleContext, isCollectionsAdministrator, isCoreAdministrator, isLeader, isPerson } from './session.ts'
import { signInWithPage, signOut } from './sign-in.ts'

type Parameters = Readonly<Record<string, string>>
type View = {
  readonly pattern: string
  readonly view: ComponentType<{ parameters: Parameters }>
  /** Who can open the view. */
  readonly isFor: (me: CallerDto) => boolean
  /** The name in the menu, and the part of the menu. */
  readonly menu?: readonly [name: MessageKey, part: MenuPart]
}

// Most people never open the forms of collections, so that these are no part of the first load.
const CollectionEditor = lazyView('collection editor', async () => {
  return (await import('./pages/collection-editor.tsx')).CollectionEditor
})
const JoinableEditor = lazyView('joinable editor', async () => {
  return (await import('./pages/joinable-editor.tsx')).JoinableEditor
})
const RestoreView = lazyView('restore', async () => (await import('./pages/restore.tsx')).RestoreView)

const MENU_PARTS = ['menuGroups', 'menuOwn', 'menuData'] as const
type MenuPart = (typeof MENU_PARTS)[number]

/** All views. The first one in the menu that the person can open is the start page. */
const VIEWS: readonly View[] = [
  {
    pattern: '/collections',
    view: CollectionsView,
    isFor: isCollectionsAdministrator,
    menu: ['collections', 'menuGroups'],
  },
  { pattern: '/collections/new', view: CollectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/new-joinable', view: JoinableEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id', view: CollectionView, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/edit', view: CollectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/edit-policy', view: JoinableEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/restore/:version', view: RestoreView, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/:tab', view: CollectionView, isFor: isCollectionsAdministrator },
  { pattern: '/links', view: LinksView, isFor: isCollectionsAdministrator, menu: ['links', 'menuGroups'] },
  { pattern: '/links/new', view: NewLinkView, isFor: isCollectionsAdministrator },
  { pattern: '/links/new/:id', view: NewLinkView, isFor: isCollectionsAdministrator },
  { pattern: '/links/:id', view: LinkView, isFor: isCollectionsAdministrator },
  { pattern: '/jobs/:id', view: JobView, isFor: isCollectionsAdministrator },
  { pattern: '/settings', view: SettingsView, isFor: isCollectionsAdministrator, menu: ['settings', 'menuGroups'] },
  { pattern: '/inbox', view: InboxView, isFor: isPerson, menu: ['inbox', 'menuOwn'] },
  { pattern: '/inbox/:collectionId/:requestId', view: RequestView, isFor: isPerson },
  { pattern: '/me', view: MeView, isFor: isPerson, menu: ['me', 'menuOwn'] },
  { pattern: '/join', view: JoinView, isFor: isPerson, menu: ['join', 'menuOwn'] },
  { pattern: '/team', view: TeamView, isFor: isLeader, menu: ['team', 'menuOwn'] },
  { pattern: '/connectors', view: ConnectorsView, isFor: isCoreAdministrator, menu: ['connectors', 'menuData'] },
  { pattern: '/connectors/:id', view: ConnectorView, isFor: isCoreAdministrator },
  { pattern: '/people', view: PeopleView, isFor: isCoreAdministrator, menu: ['people', 'menuData'] },
  { pattern: '/people/:id', view: PersonView, isFor: isCoreAdministrator },
]

type AppProps = { readonly api: Api; readonly me: CallerDto; readonly username: string }

export function App({ api, me, username }: AppProps) {
  const path = viewPath.value
  const allowed = VIEWS.filter(({ isFor }) => isFor(me))
  const start = allowed.find(({ menu }) => menu !== undefined)?.pattern
  useEffect(() => {
    if (path === '/' && start !== undefined) navigate(start)
  }, [path, start])
  return (
    <ConsoleContext.Provider value={{ api, me }}>
      <a class="skip" href="#content">
        {t('skip')}
      </a>
      <div class="frame">
        <header class="top">
          <span class="product">{t('product')}</span>
          <div class="person">
            <span>{me.displayName ?? username}</span>
            <LanguageButton />
            <button type="button" class="quiet" onClick={() => void signOut()}>
              {t('signOut')}
            </button>
          </div>
        </header>
        {start !== undefined && <Menu views={allowed} path={path} />}
        <main id="content">
          <div role="status">{outcome.value !== '' && <Done>{outcome.value}</Done>}</div>
          <UndoNotice />
          <CurrentView path={path} views={allowed} />
        </main>
      </div>
    </ConsoleContext.Provider>
  )
}

function Menu({ views, path }: { readonly views: readonly View[]; readonly path: string }) {
  return (
    <nav class="menu" aria-label={t('navigation')}>
      {MENU_PARTS.map((part) => {
        const entries = views.flatMap(({ pattern, menu }) => (menu?.[1] === part ? [{ pattern, name: menu[0] }] : []))
        if (entries.length === 0) return null
        return (
          <div key={part}>
            <h2>{t(part)}</h2>
            <ul>
              {entries.map(({ pattern, name }) => (
                <li key={pattern}>
                  <a href={hrefOf(pattern)} aria-current={isWithin(path, pattern) ? 'page' : undefined}>
                    {t(name)}
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
