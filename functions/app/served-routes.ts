import { dispatcher } from '../../shared/http/dispatch.ts'
import type { HttpResponse } from '../../shared/http/envelope.ts'
import { withRequestId } from '../../shared/http/request.ts'
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
    return prefix === '' ? withStartPage(respond, service.dispatch.newId) : respond
  }
}

const START_PAGE: HttpResponse = {
  status: 302,
  headers: { location: CONSOLE_PATH, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
}

/** Sends who opens the address of the service to the console. */
function withStartPage(respond: Respond, newId: () => string): Respond {
  return (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const isStart = isRead && new URL(request.url, 'http://localhost').pathname === '/'
    return isStart ? withRequestId(START_PAGE, request, newId) : respond(request)
  }
}
