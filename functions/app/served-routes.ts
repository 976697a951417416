import { dispatcher } from '../../shared/http/dispatch.ts'
import type { HttpResponse } from '../../shared/http/envelope.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { CONSOLE_PATH } from './console-files.ts'
import type { Respond } from './host-request.ts'
import type { Service } from './service.ts'

/** What answers the requests below each prefix. Below an empty prefix there is no route. */
export function servedRoutes(service: Service): (prefix: string) => Respond {
  const groups = [...allRoutes(service), { prefix: '', routes: [] }]
  return (prefix) => {
    const group = groups.find((candidate) => candidate.prefix === prefix)
    if (group === undefined) throw new Error(`No routes have the prefix ${prefix}`)
    const respond = dispatcher(group, service.dispatch)
    return prefix === '' ? withStartPage(respond) : respond
  }
}

const START_PAGE: HttpResponse = { status: 302, headers: { location: CONSOLE_PATH, 'cache-control': 'no-store' } }

/** Sends who opens the address of the service to the console. */
function withStartPage(respond: Respond): Respond {
  return (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return isRead && new URL(request.url, 'http://localhost').pathname === '/' ? START_PAGE : respond(request)
  }
}
