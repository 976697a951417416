import { dispatcher } from '../../shared/http/dispatch.ts'
import { allRoutes } from '../routes/all-routes.ts'
import type { Respond } from './host-request.ts'
import type { Service } from './service.ts'

/** What answers the requests below each prefix. Below an empty prefix there is no route. */
export function servedRoutes(service: Service): (prefix: string) => Respond {
  const groups = [...allRoutes(service), { prefix: '', routes: [] }]
  return (prefix) => {
    const group = groups.find((each) => each.prefix === prefix)
    if (group === undefined) throw new Error(`No routes have the prefix ${prefix}`)
    return dispatcher(group, service.dispatch)
  }
}
