import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { applyPlan } from '../../infra/definitions/apply-plan.ts'
import type { DefinitionFile } from '../../infra/definitions/definition-file.ts'
import { planLinks } from '../../infra/definitions/plan-links.ts'
import type { Step } from '../../infra/definitions/step.ts'
import type { Tenant } from '../../infra/definitions/tenant.ts'
import { type ApiCall, ApiRefusal } from '../../infra/import/api-connection.ts'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'

/** An effect on the members of a number of requests. */
const effect = (planId: string, count: number) =>
  ({ planId, collections: [], links: [], requests: { count } }) as unknown as ChangePlan
const CRITERIA = '/collections-criteria/beta'
const ofCondition = { kind: 'criteria', name: 'Nurses', file: undefined, fields: ['condition'], body: {} } as const
const update: Step = { ...ofCondition, action: 'update', method: 'PUT', path: `${CRITERIA}/1`, etag: '"1"' }

/** Applies steps to an API that answers so. @returns The outcome, the requests, and the effects planned again. */
async function applied(steps: readonly Step[], answer: (request: string) => unknown) {
  const [requests, again]: [string[], ChangePlan[]] = [[], []]
  const call: ApiCall = async (method, path, _body, headers = {}) => {
    const request = `${method} ${path}${headers['if-plan'] ? ` if ${headers['if-plan']}` : ''}`
    requests.push(request)
    return { data: answer(request) as JsonObject, etag: '"2"' }
  }
  const report = { done: () => undefined, plannedAgain: (_step: Step, plan: ChangePlan) => void again.push(plan) }
  const { refused } = await applyPlan({ steps, faults: [], groupNames: new Map() }, call, report)
  return { refused: refused?.error.message, requests, again }
}

describe('A step of a plan', () => {
  for (const [claim, state, refusal] of [
    ['is taken for done when its record is as wanted', 'Disabled', undefined],
    ['is refused when its record is not as wanted', 'Enabled', 'Another version'],
  ] as const) {
    it(`whose version is not the present one ${claim}`, async () => {
      const link = { ...update, kind: 'link', method: 'PATCH', path: '/links/1', body: { state: 'Disabled' } } as const
      const { refused } = await applied([link], (request) => {
        if (request.startsWith('GET')) return { id: '1', state }
        throw new ApiRefusal('Another version', 412, [])
      })
      assert.equal(refused, refusal)
    })
  }

  it('changes no record that it has created and whose version it cannot read', async () => {
    const create = {
      ...ofCondition,
      kind: 'link',
      action: 'create',
      method: 'POST',
      path: '/links',
      creates: 'new',
    } as const
    const disable = { ...ofCondition, kind: 'link', action: 'update', method: 'PATCH', path: '/links/new' } as const
    const { refused, requests } = await applied([create, disable], (request) => {
      if (request.startsWith('GET')) throw new ApiRefusal('Away', 503, [])
      return '7'
    })
    assert.equal(refused, 'Its version could not be read after its creation')
    assert.deepEqual(requests, ['POST /links', 'GET /links/7'])
  })

  it('creates nothing when others have given it another effect than printed', async () => {
    const create: Step = { ...ofCondition, action: 'create', method: 'POST', path: CRITERIA, creates: 'new' }
    const step = { ...create, planPath: `${CRITERIA}/plan`, effect: effect('printed', 1) }
    const { refused, requests } = await applied([step], () => effect('changed', 2))
    assert.match(refused ?? '', /another effect than printed/)
    assert.deepEqual(requests, [`POST ${CRITERIA}/plan`])
  })

  it('is planned again after changed settings, which decide what is held, and saved only with that effect', async () => {
    const settings = { ...update, kind: 'settings', method: 'PATCH', path: '/settings' } as const
    const step = { ...update, planPath: `${CRITERIA}/1/plan`, effect: effect('printed', 1), group: 'a' }
    const { requests, again } = await applied([settings, step], () => effect('changed', 2))
    assert.deepEqual(requests, ['PATCH /settings', `POST ${CRITERIA}/1/plan`, `PUT ${CRITERIA}/1 if changed`])
    assert.deepEqual(again, [effect('changed', 2)])
  })
})

describe('The plan of links', () => {
  const [groupId, otherId] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']
  const file = {
    ...{ file: 'link.yaml', kind: 'link', value: { collection: 'Nurses', group: groupId } },
    fault: (_pointer: string, message: string) => ({ file: 'link.yaml', line: 1, column: 1, message }),
  } as unknown as DefinitionFile
  const nurses = { kind: 'criteria', id: '1', name: 'Nurses', objectType: 'Identity', definition: {} }
  const surplus = { id: '9', collectionId: '1', directoryGroupId: otherId, directoryGroupDisplayName: 'Other' }
  const tenant = { collections: [nurses], links: [], settings: {}, schema: new Map() } as unknown as Tenant
  const call: ApiCall = async (method) => {
    const preview = { membersToAdd: ['a'], membersToRemove: ['b', 'c'], membersWithoutEntraAccount: 1 }
    return { data: method === 'POST' ? preview : {}, etag: '"7"' }
  }

  it('shows no removals while members have no account', async () => {
    const { steps } = await planLinks([file], [], tenant, false, call)
    assert.deepEqual(steps[0]?.accounts, { toAdd: 1, toRemove: 0 })
  })

  for (const [state, stored] of [
    ['Disabled', 'Enabled'],
    ['Enabled', 'Disabled'],
  ] as const) {
    it(`has a link ${state} only in the version that was planned`, async () => {
      const links = [{ ...surplus, id: '8', directoryGroupId: groupId, state: stored }]
      const wanted = { ...file, value: { collection: 'Nurses', group: groupId, state } } as unknown as DefinitionFile
      const { steps } = await planLinks([wanted], [], { ...tenant, links } as unknown as Tenant, false, call)
      assert.deepEqual(
        steps.map(({ path, body, etag }) => [path.split('/').at(-1), body, etag]),
        [['8', { state }, '"7"']],
      )
    })
  }

  it('deletes a link only in the version that was planned', async () => {
    const { steps } = await planLinks([], [], { ...tenant, links: [surplus] } as unknown as Tenant, true, call)
    assert.deepEqual(
      steps.map(({ method, path, etag }) => [method, path, etag]),
      [['DELETE', '/group-link/beta/group-links/9', '"7"']],
    )
  })

  it('has a fault where --prune would delete the collection of a link', async () => {
    const { faults } = await planLinks([file], [], tenant, true, call)
    assert.deepEqual(
      faults.map(({ message }) => message),
      ['No file defines this collection, which --prune would delete'],
    )
  })
})
