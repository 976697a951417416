import { app } from '@azure/functions'
import { EvaluationMessage } from '../shared/messaging/messages.ts'
import { evaluator } from './host/collections.ts'
import { queueFunction } from './host/queue-function.ts'

app.serviceBusQueue(
  'evaluate-collections',
  queueFunction('evaluations', EvaluationMessage, ({ tenantId }) => evaluator.evaluate(tenantId)),
)
