import { consoleTests } from '../support/console/console-tests.ts'
import { administratorJourneys } from './administrator-journeys.ts'
import { builderJourneys } from './builder-journeys.ts'
import { formJourneys } from './form-journeys.ts'
import { groupJourneys } from './group-journeys.ts'
import { listJourneys } from './list-journeys.ts'

consoleTests('The console of administrators', [
  administratorJourneys,
  groupJourneys,
  builderJourneys,
  formJourneys,
  listJourneys,
])
