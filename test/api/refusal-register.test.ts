import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { httpStatusOf } from '../../shared/http/envelope.ts'
import { REFUSALS, type RefusalCode } from '../../shared/kernel/refusal-register.ts'
import { coreDataServiceOfTests } from '../support/api/core-data-service.ts'
import { joinableFixture } from '../support/api/joinable-fixture.ts'
import { openLinkApi } from '../support/api/link-api.ts'
import { collectionProvocations, conditionProvocations } from '../support/api/provoked/collections.ts'
import { coreDataProvocations } from '../support/api/provoked/core-data.ts'
import { eventProvocations } from '../support/api/provoked/events.ts'
import { linkProvocations } from '../support/api/provoked/links.ts'
import type { Provocation } from '../support/api/provoked/provocation.ts'
import { requestProvocations } from '../support/api/provoked/requests.ts'
import { wireProvocations } from '../support/api/provoked/wire.ts'

const fixture = await joinableFixture()
const coreData = await coreDataServiceOfTests()
const links = await openLinkApi()
after(() => links.close())

/**
 * Every refusal of the register, or this does not compile. The set-ups check each response against the API document.
 */
const PROVOCATIONS: Record<RefusalCode, Provocation> = {
  ...wireProvocations(fixture),
  ...collectionProvocations(fixture),
  ...conditionProvocations(fixture),
  ...requestProvocations(fixture),
  ...eventProvocations(fixture),
  ...coreDataProvocations(coreData),
  ...linkProvocations(links),
}

describe('every refusal of the register is returned by a request', () => {
  for (const [code, provoke] of Object.entries(PROVOCATIONS) as [RefusalCode, Provocation][]) {
    it(code, async () => {
      const { status, codes } = await provoke()
      assert.equal(status, httpStatusOf({ code }), codes.join())
      assert.ok(codes.includes(code), codes.join())
    })
  }

  it('and there are no others', () => {
    assert.deepEqual(Object.keys(PROVOCATIONS).sort(), Object.keys(REFUSALS).sort())
  })
})
