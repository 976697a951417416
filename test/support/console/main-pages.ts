import type { ConsoleWorld } from './console-browser.ts'
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
export async function createMainPages(world: ConsoleWorld): Promise<readonly MainPage[]> {
  const teachers = await criteriaCollection(world, 'Teachers at schools', [
    leaf('relationshipTitle', 'Contains', 'Teacher'),
    {
      groupOperator: 'OR',
      conditions: [
        leaf('orgUnitDisplayName', 'Contains', 'School'),
        leaf('relationshipStartDate', 'LessThan', 'AddDays(Today(),-365)'),
      ],
    },
  ])
  await criteriaCollection(world, 'Nurses', [leaf('relationshipTitle', 'Equals', 'Nurse')])
  const directoryGroupId = await createGroup(world.environment, 'Staff room', [])
  const body = { collectionId: teachers, directoryGroupId }
  const link = await world.call<string>('admin', 'POST', '/group-link/beta/group-links', body)
  const { identityId: admin } = await caller(world, 'admin')
  const { identityId: manager } = await caller(world, 'manager')
  const { identityId: employee } = await caller(world, 'employee')
  const approvalGates = [{ order: 1, type: 'Identity', approvers: [manager, admin] }]
  const byApproval = { approvalRequired: true, approvalGates }
  const parking = await joinable(world, 'Parking garage', 'A place in the garage below the town hall', byApproval)
  const onCall = await joinable(world, 'On call', 'Phone and pager outside working hours', byApproval)
  const library = await joinable(world, 'City library', 'Borrowing for employees', { approvalRequired: false })
  await world.call('employee', 'POST', `${REQUESTS}/${parking}/submit`, { notes: 'I live far from any bus' })
  await world.call('colleague', 'POST', `${REQUESTS}/${parking}/submit`, {})
  await world.call('colleague', 'POST', `${REQUESTS}/${onCall}/submit`, { notes: 'For the summer' })
  const endsAt = new Date(Date.now() + 5 * DAY_MS).toISOString().slice(0, 10)
  await world.call('employee', 'POST', `${REQUESTS}/${library}/submit`, { endsAt })
  await world.call('admin', 'POST', `${REQUESTS}/${library}/submit`, { endsAt })
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

function caller(world: ConsoleWorld, person: string): Promise<{ readonly identityId: string }> {
  return world.call(person, 'GET', '/collections/beta/me')
}

function joinable(world: ConsoleWorld, name: string, description: string, joinPolicy: object): Promise<string> {
  return world.call('admin', 'POST', JOINABLE, { objectType: 'Identity', name, description, joinPolicy })
}
