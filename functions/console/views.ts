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

/** A view whose code is loaded with it. */
function lazyView<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType<ViewProps>>>>,
  name: Name,
): ComponentType<ViewProps> {
  return lazy(async () => (await load())[name])
}

const collectionEditor = lazyView(() => import('./pages/collection-editor.tsx'), 'CollectionEditor')
const collectionView = lazyView(() => import('./pages/collection.tsx'), 'CollectionView')
const joinableEditor = lazyView(() => import('./pages/joinable-editor.tsx'), 'JoinableEditor')
const newLinkView = lazyView(() => import('./pages/new-link.tsx'), 'NewLinkView')

/** @param isFor Who can open the views. */
const viewsFor = (isFor: View['isFor'], views: readonly Omit<View, 'isFor'>[]): readonly View[] =>
  views.map((view) => ({ ...view, isFor }))

/** All views, for those who can open them. The start page comes with the first load. */
export const VIEWS: readonly View[] = [
  { pattern: '/home', view: HomeView, isFor: hasRole, menu: ['home', 'menuOverview'] },
  ...viewsFor(isCollectionsAdministrator, [
    {
      pattern: '/collections',
      view: lazyView(() => import('./pages/collections.tsx'), 'CollectionsView'),
      menu: ['collections', 'menuGroups'],
    },
    { pattern: '/collections/new', view: collectionEditor },
    { pattern: '/collections/new-joinable', view: joinableEditor },
    { pattern: '/collections/:id', view: collectionView },
    { pattern: '/collections/:id/edit', view: collectionEditor },
    { pattern: '/collections/:id/edit-policy', view: joinableEditor },
    {
      pattern: '/collections/:id/restore/:version',
      view: lazyView(() => import('./pages/restore.tsx'), 'RestoreView'),
    },
    { pattern: '/collections/:id/:tab', view: collectionView },
    {
      pattern: '/links',
      view: lazyView(() => import('./pages/links.tsx'), 'LinksView'),
      menu: ['links', 'menuGroups'],
      count: urgentLinkCount,
    },
    { pattern: '/links/new', view: newLinkView },
    { pattern: '/links/new/:id', view: newLinkView },
    { pattern: '/links/:id', view: lazyView(() => import('./pages/link.tsx'), 'LinkView') },
    { pattern: '/jobs/:id', view: lazyView(() => import('./pages/job.tsx'), 'JobView') },
    {
      pattern: '/subscriptions',
      view: lazyView(() => import('./pages/subscriptions.tsx'), 'SubscriptionsView'),
      menu: ['subscriptions', 'menuGroups'],
    },
    { pattern: '/subscriptions/new', view: lazyView(() => import('./pages/subscriptions.tsx'), 'NewSubscriptionView') },
    { pattern: '/subscriptions/:id', view: lazyView(() => import('./pages/subscription.tsx'), 'SubscriptionView') },
    {
      pattern: '/settings',
      view: lazyView(() => import('./pages/settings.tsx'), 'SettingsView'),
      menu: ['settings', 'menuGroups'],
    },
  ]),
  {
    pattern: '/inbox',
    view: lazyView(() => import('./pages/inbox.tsx'), 'InboxView'),
    isFor: isPerson,
    menu: ['inbox', 'menuOwn'],
    count: ({ toDecide }) => toDecide ?? 0,
  },
  {
    pattern: '/inbox/:collectionId/:requestId',
    view: lazyView(() => import('./pages/inbox.tsx'), 'RequestView'),
    isFor: isPerson,
  },
  {
    pattern: '/me',
    view: lazyView(() => import('./pages/me.tsx'), 'MeView'),
    isFor: isPerson,
    menu: ['me', 'menuOwn'],
    count: ({ ending }) => ending ?? 0,
  },
  {
    pattern: '/join',
    view: lazyView(() => import('./pages/join.tsx'), 'JoinView'),
    isFor: isPerson,
    menu: ['join', 'menuOwn'],
  },
  {
    pattern: '/team',
    view: lazyView(() => import('./pages/team.tsx'), 'TeamView'),
    isFor: isLeader,
    menu: ['team', 'menuOwn'],
  },
  {
    pattern: '/notifications',
    view: lazyView(() => import('./pages/notifications.tsx'), 'NotificationsView'),
    isFor: isPerson,
    menu: ['notifications', 'menuOwn'],
  },
  {
    pattern: '/people',
    view: lazyView(() => import('./pages/people.tsx'), 'PeopleView'),
    isFor: findsPeople,
    menu: ['people', 'menuData'],
  },
  {
    pattern: '/people/:id',
    view: lazyView(() => import('./pages/person.tsx'), 'PersonView'),
    isFor: (me) => findsPeople(me) || isLeader(me),
  },
  ...viewsFor(isCoreAdministrator, [
    {
      pattern: '/connectors',
      view: lazyView(() => import('./pages/connectors.tsx'), 'ConnectorsView'),
      menu: ['connectors', 'menuData'],
      count: ({ lateConnectors }) => lateConnectors ?? 0,
    },
    { pattern: '/connectors/new', view: lazyView(() => import('./pages/new-connector.tsx'), 'NewConnectorView') },
    { pattern: '/connectors/:id', view: lazyView(() => import('./pages/connectors.tsx'), 'ConnectorView') },
    {
      pattern: '/quality',
      view: lazyView(() => import('./pages/quality.tsx'), 'QualityView'),
      menu: ['quality', 'menuData'],
      count: dataFaultCount,
    },
  ]),
]
