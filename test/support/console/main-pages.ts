import type { ConsoleFixture } from './console-browser.ts'
import { createGroup, criteriaCollection, leaf } from './console-steps.ts'

/** One of the main pages of the console, with something to show. */
export type MainPage = {
  /** Names its picture. */
  readonly name: string
  /** The demo person who opens it. */
  readonly person: string
  /** Below `/console`. */
  readonly path: string
}

const JOINABLE = '/collections-joinable/beta'
const REQUESTS = `${JOINABLE}/membership-requests`
const DAY_MS = 86_400_000

/** Creates what the main pages show: collections, a linked group, requests that wait, and memberships that end. */
export async function createMainPages(fixture: ConsoleFixture): Promise<readonly MainPage[]> {
  const teachers = await criteriaCollection(fixture, 'Teachers at schools', [
    leaf('relationshipTitle', 'Contains', 'Teacher'),
    {
      groupOperator: 'OR',
      conditions: [
        leaf('orgUnitDisplayName', 'Contains', 'School'),
        leaf('relationshipStartDate', 'LessThan', 'AddDays(Today(),-365)'),
      ],
    },
  ])
  await criteriaCollection(fixture, 'Nurses', [leaf('relationshipTitle', 'Equals', 'Nurse')])
  const directoryGroupId = await createGroup(fixture.environment, 'Staff room', [])
  const body = { collectionId: teachers, directoryGroupId }
  const link = await fixture.call<string>('admin', 'POST', '/group-link/beta/group-links', body)
  const { identityId: admin } = await caller(fixture, 'admin')
  const { identityId: manager } = await caller(fixture, 'manager')
  const { identityId: employee } = await caller(fixture, 'employee')
  const approvalGates = [{ order: 1, type: 'Identity', approvers: [manager, admin] }]
  const byApproval = { approvalRequired: true, approvalGates }
  const parking = await joinable(fixture, 'Parking garage', 'A place in the garage below the town hall', byApproval)
  const onCall = await joinable(fixture, 'On call', 'Phone and pager outside working hours', byApproval)
  const library = await joinable(fixture, 'City library', 'Borrowing for employees', { approvalRequired: false })
  await fixture.call('employee', 'POST', `${REQUESTS}/${parking}/submit`, { notes: 'I live far from any bus' })
  await fixture.call('colleague', 'POST', `${REQUESTS}/${parking}/submit`, {})
  await fixture.call('colleague', 'POST', `${REQUESTS}/${onCall}/submit`, { notes: 'For the summer' })
  const endsAt = new Date(Date.now() + 5 * DAY_MS).toISOString().slice(0, 10)
  await fixture.call('employee', 'POST', `${REQUESTS}/${library}/submit`, { endsAt })
  await fixture.call('admin', 'POST', `${REQUESTS}/${library}/submit`, { endsAt })
  return [
    { name: 'home', person: 'admin', path: '/home' },
    { name: 'collections', person: 'admin', path: '/collections' },
    { name: 'collection', person: 'admin', path: `/collections/${teachers}` },
    { name: 'condition', person: 'admin', path: `/collections/${teachers}/edit` },
    { name: 'links', person: 'admin', path: '/links' },
    { name: 'link', person: 'admin', path: `/links/${link}` },
    { name: 'person', person: 'admin', path: `/people/${employee}` },
    { name: 'quality', person: 'admin', path: '/quality' },
    { name: 'settings', person: 'admin', path: '/settings' },
    { name: 'inbox', person: 'manager', path: '/inbox' },
    { name: 'me', person: 'employee', path: '/me' },
    { name: 'join', person: 'employee', path: '/join' },
  ]
}

function caller(fixture: ConsoleFixture, person: string): Promise<{ readonly identityId: string }> {
  return fixture.call(person, 'GET', '/collections/beta/me')
}

function joinable(fixture: ConsoleFixture, name: string, description: string, joinPolicy: object): Promise<string> {
  return fixture.call('admin', 'POST', JOINABLE, { objectType: 'Identity', name, description, joinPolicy })
}
