import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { serviceDocument } from '../../../functions/routes/service-document.ts'

/** An event as received. */
export type Received = {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly time: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read the members of each type
  readonly data: any
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema(serviceDocument(), 'api')

/** Throws unless the API description has the event. */
export function assertDescribed(event: Received): void {
  const place = `api#/webhooks/${event.type}/post/requestBody/content/application~1cloudevents+json/schema`
  const validate = ajv.getSchema(place) ?? ajv.compile({ $ref: place })
  assert.ok(validate(event), `${event.type}: ${ajv.errorsText(validate.errors)}`)
}
