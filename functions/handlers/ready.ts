import { readinessResponder } from '../../shared/http/probes.ts'
import { newId } from '../app/foundation.ts'
import { httpHandler } from '../app/http-group.ts'
import { readiness } from '../app/readiness.ts'

export const handle = httpHandler(readinessResponder(readiness, newId))
