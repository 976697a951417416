import { once } from 'node:events'

/**
 * The process that sends the requests of the other tenant for `neighbours.bench.ts`, so that the measuring process only
 * measures. It runs the work that it is sent, one after the other.
 */
export type NoisyWork = {
  readonly apiUrl: string
  readonly connectorPath: string
  readonly connectorToken: string
  readonly writerToken: string
} & (
  | {
      readonly work: 'write'
      readonly fromIndex: number
      readonly count: number
      readonly nameFrom: number | undefined
    }
  | { readonly work: 'evaluate' }
)

const BATCH_COUNT = 1000
const NAMES_PER_OBJECT_COUNT = 100
const NAMES_COUNT = 200
const CRITERIA = '/collections-criteria/beta'

/** Half of the values are different for each object. */
const value = (object: number, name: number) => (name % 2 === 0 ? `${object} of ${name}` : `value ${(object * 7) % 50}`)

/** @param nameFrom The first name of the object; by default, the names are those of 200 that are permitted. */
function item(index: number, nameFrom: number | undefined): object {
  const names = Array.from({ length: NAMES_PER_OBJECT_COUNT }, (_, at) =>
    nameFrom === undefined ? (index % 2) * NAMES_PER_OBJECT_COUNT + at : nameFrom + at,
  )
  const custom = Object.fromEntries(names.map((name) => [`custom/name ${name}`, value(index, name)]))
  const data = { displayName: `Person ${index}`, ...custom }
  return { op: 'upsert', objectType: 'identity', externalId: `noisy ${index}`, data }
}

async function call(url: string, token: string, body: object): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}

async function run(sent: NoisyWork): Promise<string> {
  if (sent.work === 'write') {
    let refusedCount = 0
    for (let from = sent.fromIndex; from < sent.fromIndex + sent.count; from += BATCH_COUNT) {
      const size = Math.min(BATCH_COUNT, sent.fromIndex + sent.count - from)
      const items = Array.from({ length: size }, (_, at) =>
        item(from + at, sent.nameFrom === undefined ? undefined : sent.nameFrom + (from + at) * NAMES_PER_OBJECT_COUNT),
      )
      const { status, text } = await call(`${sent.apiUrl}${sent.connectorPath}/batch`, sent.connectorToken, { items })
      if (status !== 200) throw new Error(`A batch was answered ${status}: ${text.slice(0, 300)}`)
      refusedCount += (JSON.parse(text) as { data: { status: number }[] }).data.filter(
        (one) => one.status >= 300,
      ).length
    }
    return `${sent.count} objects sent, ${refusedCount} refused`
  }
  const leaf = (name: number) => ({
    id: `identityCustom/name ${name}`,
    field: `ToUpper(identityCustom/name ${name})`,
    operator: 'Contains',
    value: `${name}7`,
  })
  const conditions = Array.from({ length: NAMES_COUNT }, (_, name) => leaf(name))
  const condition = { groupOperator: 'OR', conditions }
  const preview = await call(`${sent.apiUrl}${CRITERIA}/preview`, sent.writerToken, {
    preview: { objectType: 'Identity', condition },
  })
  const created = await call(`${sent.apiUrl}${CRITERIA}`, sent.writerToken, {
    objectType: 'Identity',
    name: 'All',
    condition,
  })
  return `preview ${preview.status} (${preview.text.length} bytes), collection ${created.status}`
}

for (;;) {
  const [sent] = (await once(process, 'message')) as [NoisyWork]
  process.send?.(await run(sent))
}
