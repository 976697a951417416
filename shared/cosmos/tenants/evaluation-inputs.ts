import type { Container } from '@azure/cosmos'
import type { EvaluationInput, EvaluationInputs } from '../../domain/evaluation/evaluation-due.ts'
import type { ContainerId } from '../containers.ts'
import { queryAll, sqlParameters } from '../documents.ts'

/** The containers that are written most often come first. */
const INPUTS = ['coreObjects', 'requests', 'collections'] as const satisfies readonly (ContainerId & EvaluationInput)[]

/** One query for each input, until one finds a further write. */
export function cosmosEvaluationInputs(container: (id: ContainerId) => Container): EvaluationInputs {
  return {
    async hasFurtherWrites(tenantId, included) {
      for (const id of INPUTS) {
        const known = included[id]
        if (known === undefined) continue
        const query = `SELECT TOP ${known.versions.length + 1} VALUE c._etag FROM c WHERE c._ts >= @sinceS`
        const parameters = sqlParameters({ sinceS: known.sinceS })
        const found = await queryAll<string>(container(id), tenantId, { query, parameters })
        if (found.some((version) => !known.versions.includes(version))) return true
      }
      return false
    },
  }
}
