import { EvaluationMessage } from '../../shared/messaging/messages.ts'
import { evaluator } from '../host/collections.ts'
import { messageHandler } from '../host/message-handler.ts'

export const handle = messageHandler('evaluations', EvaluationMessage, ({ tenantId }) => evaluator.evaluate(tenantId))
