import type { Container } from '@azure/cosmos'
import type { EvaluationInput, EvaluationInputs } from '../domain/collections/evaluation-due.ts'
import type { ContainerId } from './containers.ts'
import { queryAll, sqlParameters } from './documents.ts'

/** Those written most often come first. */
const INPUTS = ['coreObjects', 'requests', 'collections'] as const satisfies readonly (ContainerId & EvaluationInput)[]

/** One query for each input, until one finds a write. */
export function cosmosEvaluationInputs(container: (id: ContainerId) => Container): EvaluationInputs {
  return {
    async hasWritesSince(tenantId, sinceS) {
      const query = 'SELECT TOP 1 VALUE c.id FROM c WHERE c._ts >= @sinceS'
      for (const id of INPUTS) {
        const fromS = sinceS[id]
        if (fromS === undefined) continue
        const parameters = sqlParameters({ sinceS: fromS })
        const found = await queryAll<string>(container(id), tenantId, { query, parameters })
        if (found.length > 0) return true
      }
      return false
    },
  }
}
