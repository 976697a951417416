import { after, before, describe } from 'node:test'
import { type ConsoleWorld, openConsoleWorld } from '../support/console/console-browser.ts'
import { findChromium } from '../support/local/headless-browser.ts'
import { accessJourneys } from './access-journeys.ts'
import { administratorJourneys } from './administrator-journeys.ts'
import { builderJourneys } from './builder-journeys.ts'
import { dataJourneys } from './data-journeys.ts'
import { formJourneys } from './form-journeys.ts'
import { groupJourneys } from './group-journeys.ts'
import { listJourneys } from './list-journeys.ts'
import { pageJourneys } from './page-journeys.ts'
import { personJourneys } from './person-journeys.ts'
import { preferenceJourneys } from './preference-journeys.ts'
import { shellJourneys } from './shell-journeys.ts'

const chromium = findChromium()
const missing = 'SKIPPED: there is no Chromium on this machine, so the console was not opened'
if (chromium === undefined) process.stderr.write(`\n${missing}\n\n`)

// All journeys share one environment and one browser, and run beside each other: they mostly wait.
describe('The console', { skip: chromium === undefined ? missing : false, concurrency: 3 }, () => {
  let opened: ConsoleWorld | undefined
  before(async () => {
    opened = await openConsoleWorld(chromium ?? '')
  })
  after(() => opened?.close())
  const world = (): ConsoleWorld => {
    if (opened === undefined) throw new Error('The environment is not started')
    return opened
  }

  administratorJourneys(world)
  personJourneys(world)
  shellJourneys(world)
  listJourneys(world)
  formJourneys(world)
  groupJourneys(world)
  builderJourneys(world)
  accessJourneys(world)
  dataJourneys(world)
  pageJourneys(world)
  preferenceJourneys(world)
})
