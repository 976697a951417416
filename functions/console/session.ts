import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import type { Api } from './api.ts'

/** The signed-in person, and the API as that person. */
export type Console = { readonly api: Api; readonly me: CallerDto }

export const ConsoleContext = createContext<Console | undefined>(undefined)

/** @throws Error outside of a signed-in console. */
export function useConsole(): Console {
  const found = useContext(ConsoleContext)
  if (found === undefined) throw new Error('Nobody is signed in')
  return found
}

const COLLECTIONS_ADMINISTRATOR = 'collection_criteria_definition-administrator'

export const isCollectionsAdministrator = ({ roles }: CallerDto): boolean => roles.includes(COLLECTIONS_ADMINISTRATOR)
export const isCoreAdministrator = ({ roles }: CallerDto): boolean => roles.includes('Administrator')
/** Whether the person has any role in this service. */
export const hasRole = ({ roles }: CallerDto): boolean => roles.length > 0
/** Whether the person finds all people by a part of their names. */
export const findsPeople = (me: CallerDto): boolean => isCollectionsAdministrator(me) || isCoreAdministrator(me)
/** Requests are for people with a core identity. */
export const isPerson = ({ identityId, roles }: CallerDto): boolean => identityId !== null && roles.length > 0
/** Org units and people that a person leads are visible to the role User. */
export const isLeader = (me: CallerDto): boolean => isPerson(me) && me.roles.includes('User')
