import { livenessResponder } from '../../shared/http/probe-responder.ts'
import { newId } from '../host/foundation.ts'
import { httpHandler } from '../host/http-group.ts'

export const handle = httpHandler(livenessResponder(newId))
