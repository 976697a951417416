import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { serviceDocument } from '../../functions/routes/service-document.ts'

/**
 * The one rule that the paths of the API break: `/membership-requests/eligible/{userId}` beside
 * `/membership-requests/{collectionId}/submit`, and the like. A literal segment wins over an id, as OpenAPI 3.1 has it
 * ("Path Templating Matching") and as the router does, so that no request is in doubt. The rule stays on, and
 * all else that it finds is a failure.
 */
const KNOWN_AMBIGUITIES = [
  '/group-link/beta/group-links/{collectionId}/sync',
  '/group-link/beta/group-links/{id}/removal-plan',
  '/collections/beta/event-subscriptions/{id}',
  '/collections-joinable/beta/membership-requests/{collectionId}',
  '/collections-joinable/beta/membership-requests/eligible/{userId}',
  '/collections-joinable/beta/membership-requests/pending-approval-review/{collectionId}',
]

async function problemsOf(document: object) {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config,
  })
  return problems.map(({ ruleId, severity, message, location }) => ({
    ruleId,
    place: location[0]?.pointer ?? '',
    text: `${severity} ${ruleId} at ${location[0]?.pointer}: ${message}`,
  }))
}

const isKnown = ({ ruleId, place }: { ruleId: string; place: string }) =>
  ruleId === 'no-ambiguous-paths' && KNOWN_AMBIGUITIES.some((path) => place === `#/paths/${path.replaceAll('/', '~1')}`)

describe('the linter on the API document', () => {
  it('reports no error and no warning', async () => {
    const problems = await problemsOf(serviceDocument())
    const others = problems.filter((problem) => !isKnown(problem))
    assert.deepEqual(
      others.map(({ text }) => text),
      [],
    )
    assert.ok(problems.length > 0, 'the known ambiguities are gone: forget them')
  })

  it('reports a document that lacks required parts', async () => {
    const { info: _info, ...rest } = serviceDocument() as Record<string, unknown>
    const problems = await problemsOf({ ...rest, info: { title: 'Nameless' }, tags: [{ name: 'Collections' }] })
    for (const rule of ['struct', 'info-license', 'tag-description']) {
      assert.ok(
        problems.some(({ ruleId }) => ruleId === rule),
        rule,
      )
    }
  })
})
