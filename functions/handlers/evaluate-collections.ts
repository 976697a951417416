import { EvaluationMessage } from '../../shared/messaging/queues.ts'
import { evaluator } from '../app/collections.ts'
import { messageHandler } from '../app/message-handler.ts'

export const handle = messageHandler('evaluations', EvaluationMessage, ({ tenantId }) => evaluator.evaluate(tenantId))
