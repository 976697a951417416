import { describe, it } from 'node:test'
import { checkEvents } from '../support/events/events-property.ts'

/** `EVENT_RUNS` and `EVENT_SEED` set the number of runs and the seed. */
const { EVENT_RUNS = '60', EVENT_SEED } = process.env
const seed = EVENT_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(EVENT_SEED)

describe('Events', () => {
  it('are exactly what records tell, each with one id, in runs with kills and lost messages', () =>
    checkEvents({ runs: Number(EVENT_RUNS), seed }))
})
