import { ELIGIBILITY_READERS } from '../../shared/domain/membership-requests/list-requests.ts'
import { type Role, USER_ROLES } from '../../shared/kernel/caller.ts'

/** Whoever may read definitions and members, preview and filter: decisions, section 2. */
export const COLLECTION_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

/** Whoever may create, change and delete them. */
export const COLLECTION_WRITERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.readwrite.all',
]

/** Whoever may act as themselves: any user, given a core identity. */
export const PERSON_ROLES: readonly Role[] = USER_ROLES

/** Who sees every membership request: decisions, section 2. */
export const SEES_ALL_REQUESTS: readonly Role[] = ELIGIBILITY_READERS

/** The others see what is their business. */
export const REQUEST_READERS: readonly Role[] = ['User', ...SEES_ALL_REQUESTS]
