import type { RouteGroup } from '../../shared/http/route.ts'
import { type CollectionRouteDependencies, collectionRoutes } from './collections.ts'
import { type CriteriaRouteDependencies, criteriaRoutes } from './collections-criteria.ts'
import { joinableRoutes } from './collections-joinable.ts'
import type { ConnectorDataDependencies } from './connector-data.ts'
import { connectorReadRoutes, connectorRoutes } from './connectors.ts'
import { type CoreObjectRouteDependencies, coreObjectRoutes } from './core-objects.ts'
import { type EventRouteDependencies, eventSubscriptionRoutes } from './event-subscriptions.ts'
import { groupLinkRoutes } from './group-link.ts'
import type { LinkRouteDependencies } from './group-protection.ts'
import { type NotificationRouteDependencies, notificationRoutes } from './notifications.ts'

export type AllRouteDependencies = {
  readonly events: EventRouteDependencies & NotificationRouteDependencies
  readonly requests: CollectionRouteDependencies & CriteriaRouteDependencies
  readonly links: LinkRouteDependencies
  readonly connectors: Parameters<typeof connectorRoutes>[0] & ConnectorDataDependencies
  readonly coreObjects: CoreObjectRouteDependencies
}

export const allRoutes = ({ events, requests, links, connectors, coreObjects }: AllRouteDependencies) =>
  [
    withEvents(collectionRoutes(requests), events),
    criteriaRoutes(requests),
    joinableRoutes(requests),
    groupLinkRoutes(links),
    coreObjectRoutes(coreObjects),
    connectorRoutes(connectors),
    connectorReadRoutes(connectors),
  ] satisfies readonly RouteGroup[]

/** Subscriptions to events, and when people get mails, are below the prefix of all collections. */
export function withEvents({ prefix, routes }: RouteGroup, events: AllRouteDependencies['events']): RouteGroup {
  return { prefix, routes: [...routes, ...eventSubscriptionRoutes(events), ...notificationRoutes(events)] }
}

/** The routes as data, for the API document and tests. They cannot be run. */
export function routeTables(): readonly RouteGroup[] {
  const nothing = {} as never
  return allRoutes({ events: nothing, requests: nothing, links: nothing, connectors: nothing, coreObjects: nothing })
}
