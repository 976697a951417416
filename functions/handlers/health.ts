import { livenessResponder } from '../../shared/http/probes.ts'
import { newId } from '../app/foundation.ts'
import { httpHandler } from '../app/http-group.ts'

export const handle = httpHandler(livenessResponder(newId))
