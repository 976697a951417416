import { readinessResponder } from '../../shared/http/probe-responder.ts'
import { newId } from '../host/foundation.ts'
import { httpHandler } from '../host/http-group.ts'
import { readiness } from '../host/readiness.ts'

export const handle = httpHandler(readinessResponder(readiness, newId))
