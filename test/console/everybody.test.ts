import { consoleTests } from '../support/console/console-tests.ts'
import { accessJourneys } from './access-journeys.ts'
import { dataJourneys } from './data-journeys.ts'
import { pageJourneys } from './page-journeys.ts'
import { personJourneys } from './person-journeys.ts'
import { preferenceJourneys } from './preference-journeys.ts'
import { shellJourneys } from './shell-journeys.ts'
import { windowJourneys } from './window-journeys.ts'

consoleTests('The console of everybody', [
  pageJourneys,
  shellJourneys,
  personJourneys,
  accessJourneys,
  dataJourneys,
  preferenceJourneys,
  windowJourneys,
])
