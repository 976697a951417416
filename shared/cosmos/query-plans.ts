import { type FeedOptions, type PluginConfig, PluginOn } from '@azure/cosmos'

const IS_QUERY_PLAN = 'x-ms-cosmos-is-query-plan-request'

/**
 * The plugin that saves the request for a query plan of each query in one partition. The SDK requests a plan beside the
 * first page of every query, and uses it only when that page is refused because several partitions are concerned. It
 * ignores a failed request for a plan until then.
 */
export function withoutQueryPlans(): PluginConfig {
  return {
    on: PluginOn.request,
    plugin: (context, _diagnostics, next) => {
      const isPlan = context.headers?.[IS_QUERY_PLAN] !== undefined
      const { partitionKey }: FeedOptions = context.options ?? {}
      if (!isPlan || partitionKey === undefined) return next(context)
      return Promise.reject(new Error('A query in one partition has no plan.'))
    },
  }
}
