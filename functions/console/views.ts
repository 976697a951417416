import type { ComponentType } from 'preact'
import type { AttentionDto } from '../../shared/domain/insight/attention.ts'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import { dataFaultCount, urgentLinkCount } from './attention.ts'
import { lazy } from './components/lazy.tsx'
import type { MessageKey } from './language/english.ts'
import { HomeView } from './pages/home.tsx'
import { findsPeople, hasRole, isCollectionsAdministrator, isCoreAdministrator, isLeader, isPerson } from './session.ts'

type Parameters = Readonly<Record<string, string>>
type ViewProps = { readonly parameters: Parameters }
export type View = {
  readonly pattern: string
  readonly view: ComponentType<ViewProps>
  /** Who can open the view. */
  readonly isFor: (me: CallerDto) => boolean
  /** The name in the menu, and the part of the menu. */
  readonly menu?: readonly [name: MessageKey, part: MenuPart]
  /** What needs attention there. */
  readonly count?: (attention: AttentionDto) => number
}

export const MENU_PARTS = ['menuOverview', 'menuOwn', 'menuGroups', 'menuData'] as const
type MenuPart = (typeof MENU_PARTS)[number]

const collectionEditor = lazy<ViewProps>(async () => (await import('./pages/collection-editor.tsx')).CollectionEditor)
const collectionView = lazy<ViewProps>(async () => (await import('./pages/collection.tsx')).CollectionView)
const joinableEditor = lazy<ViewProps>(async () => (await import('./pages/joinable-editor.tsx')).JoinableEditor)
const restoreView = lazy<ViewProps>(async () => (await import('./pages/restore.tsx')).RestoreView)
const newLinkView = lazy<ViewProps>(async () => (await import('./pages/new-link.tsx')).NewLinkView)

/** All views, for those who can open them. The code of a view is loaded with it; the start page has come before. */
export const VIEWS: readonly View[] = [
  { pattern: '/home', view: HomeView, isFor: hasRole, menu: ['home', 'menuOverview'] },
  {
    pattern: '/collections',
    view: lazy(async () => (await import('./pages/collections.tsx')).CollectionsView),
    isFor: isCollectionsAdministrator,
    menu: ['collections', 'menuGroups'],
  },
  { pattern: '/collections/new', view: collectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/new-joinable', view: joinableEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id', view: collectionView, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/edit', view: collectionEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/edit-policy', view: joinableEditor, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/restore/:version', view: restoreView, isFor: isCollectionsAdministrator },
  { pattern: '/collections/:id/:tab', view: collectionView, isFor: isCollectionsAdministrator },
  {
    pattern: '/links',
    view: lazy(async () => (await import('./pages/links.tsx')).LinksView),
    isFor: isCollectionsAdministrator,
    menu: ['links', 'menuGroups'],
    count: urgentLinkCount,
  },
  { pattern: '/links/new', view: newLinkView, isFor: isCollectionsAdministrator },
  { pattern: '/links/new/:id', view: newLinkView, isFor: isCollectionsAdministrator },
  {
    pattern: '/links/:id',
    view: lazy(async () => (await import('./pages/link.tsx')).LinkView),
    isFor: isCollectionsAdministrator,
  },
  {
    pattern: '/jobs/:id',
    view: lazy(async () => (await import('./pages/job.tsx')).JobView),
    isFor: isCollectionsAdministrator,
  },
  {
    pattern: '/subscriptions',
    view: lazy(async () => (await import('./pages/subscriptions.tsx')).SubscriptionsView),
    isFor: isCollectionsAdministrator,
    menu: ['subscriptions', 'menuGroups'],
  },
  {
    pattern: '/subscriptions/new',
    view: lazy(async () => (await import('./pages/subscriptions.tsx')).NewSubscriptionView),
    isFor: isCollectionsAdministrator,
  },
  {
    pattern: '/subscriptions/:id',
    view: lazy(async () => (await import('./pages/subscription.tsx')).SubscriptionView),
    isFor: isCollectionsAdministrator,
  },
  {
    pattern: '/settings',
    view: lazy(async () => (await import('./pages/settings.tsx')).SettingsView),
    isFor: isCollectionsAdministrator,
    menu: ['settings', 'menuGroups'],
  },
  {
    pattern: '/inbox',
    view: lazy(async () => (await import('./pages/inbox.tsx')).InboxView),
    isFor: isPerson,
    menu: ['inbox', 'menuOwn'],
    count: ({ toDecide }) => toDecide ?? 0,
  },
  {
    pattern: '/inbox/:collectionId/:requestId',
    view: lazy(async () => (await import('./pages/inbox.tsx')).RequestView),
    isFor: isPerson,
  },
  {
    pattern: '/me',
    view: lazy(async () => (await import('./pages/me.tsx')).MeView),
    isFor: isPerson,
    menu: ['me', 'menuOwn'],
    count: ({ ending }) => ending ?? 0,
  },
  {
    pattern: '/join',
    view: lazy(async () => (await import('./pages/join.tsx')).JoinView),
    isFor: isPerson,
    menu: ['join', 'menuOwn'],
  },
  {
    pattern: '/team',
    view: lazy(async () => (await import('./pages/team.tsx')).TeamView),
    isFor: isLeader,
    menu: ['team', 'menuOwn'],
  },
  {
    pattern: '/notifications',
    view: lazy(async () => (await import('./pages/notifications.tsx')).NotificationsView),
    isFor: isPerson,
    menu: ['notifications', 'menuOwn'],
  },
  {
    pattern: '/people',
    view: lazy(async () => (await import('./pages/people.tsx')).PeopleView),
    isFor: findsPeople,
    menu: ['people', 'menuData'],
  },
  {
    pattern: '/people/:id',
    view: lazy(async () => (await import('./pages/person.tsx')).PersonView),
    isFor: (me) => findsPeople(me) || isLeader(me),
  },
  {
    pattern: '/connectors',
    view: lazy(async () => (await import('./pages/connectors.tsx')).ConnectorsView),
    isFor: isCoreAdministrator,
    menu: ['connectors', 'menuData'],
    count: ({ lateConnectors }) => lateConnectors ?? 0,
  },
  {
    pattern: '/connectors/new',
    view: lazy(async () => (await import('./pages/new-connector.tsx')).NewConnectorView),
    isFor: isCoreAdministrator,
  },
  {
    pattern: '/connectors/:id',
    view: lazy(async () => (await import('./pages/connectors.tsx')).ConnectorView),
    isFor: isCoreAdministrator,
  },
  {
    pattern: '/quality',
    view: lazy(async () => (await import('./pages/quality.tsx')).QualityView),
    isFor: isCoreAdministrator,
    menu: ['quality', 'menuData'],
    count: dataFaultCount,
  },
]
