import { readAs } from '../core/custom-types.ts'
import { foldedText } from '../core/search-text.ts'
import type { ConnectorObject, ObjectData } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'

const ACCOUNT = 'directoryObjectId'

/** An identity, as far as its keys decide. */
export type WithKeys = Pick<ConnectorObject, 'connectorId' | 'data'>

/**
 * Returns the value of a join key by its type, folded as in searches; undefined when the data have none, or a list of
 * several texts. A type changes no stored value: the same value can be stored in several forms. One that does not read as
 * the type stays what it was.
 */
export function foldedKey(
  data: ObjectData,
  key: string,
  { typeOf }: Pick<ConnectorRules, 'typeOf'>,
): string | undefined {
  const value = data[key]
  if (typeof value !== 'string' && !Array.isArray(value)) return undefined
  const type = typeOf(key)
  if (type === 'String' && typeof value === 'string') return foldedText(value)
  const [text, ...more] = [readAs(type, value) ?? value].flat()
  return text === undefined || more.length > 0 ? undefined : foldedText(String(text))
}

const foldedNin = ({ nin }: ObjectData): string | undefined => (typeof nin === 'string' ? foldedText(nin) : undefined)

/** A join key that an identity has, with its value. */
export type JoinKeyValue = { readonly key: string; readonly value: string }

/** Returns the join keys that the identity has, in the order in which they decide, whether or not they count. */
export function joinKeyValues(data: ObjectData, rules: ConnectorRules): JoinKeyValue[] {
  return rules.joinKeys.flatMap((key) => {
    const value = foldedKey(data, key, rules)
    return value === undefined ? [] : [{ key, value }]
  })
}

/**
 * Returns the values by which identities with the same keys are looked for: folded, and a `nin` also as it was sent,
 * since it is stored like that.
 */
export function soughtKeyValues(data: ObjectData, rules: ConnectorRules): JoinKeyValue[] {
  const { nin } = data
  return [...joinKeyValues(data, rules), ...(typeof nin === 'string' ? [{ key: 'nin', value: nin }] : [])]
}

/** Returns the join keys that the identity has, as texts. */
export const joinKeysInOrder = ({ data }: WithKeys, rules: ConnectorRules): string[] =>
  joinKeyValues(data, rules).map(textOf)

/**
 * Returns the join keys by which an identity of the same connector is the same person: those that the connector lists and
 * by which identities are found, accounts only of one that binds them. None for a supplementing connector, which carries
 * no identity.
 */
export function rekeyingKeysOf({ connectorId, data }: WithKeys, rules: ConnectorRules): string[] {
  if (rules.supplements(connectorId)) return []
  return joinKeyValues(data, rules)
    .filter(({ key }) => rules.joinsOn(connectorId, key) && rules.findsBy(key))
    .filter(({ key }) => key !== ACCOUNT || rules.bindsAccounts(connectorId))
    .map(textOf)
}

/** Colleagues share none of these keys: two records that do are one person, however long both are live. */
const KEYS_OF_ONE_PERSON = ['nin', ACCOUNT, 'employeeNumber']

/** @param text A join key with its value, as a text. */
export const isKeyOfOnePerson = (text: string): boolean => KEYS_OF_ONE_PERSON.some((key) => text.startsWith(`${key} `))

const textOf = ({ key, value }: JoinKeyValue): string => `${key} ${value}`

/** Join keys whose values are looked up as they were sent: identities have had them since before others existed. */
export const KEYS_AS_SENT: readonly string[] = ['nin', ACCOUNT]

/**
 * The folded values of the other join keys, as stored with an identity, and of a `nin` that is sent in another form;
 * undefined when it has none.
 */
export function storedFoldedKeys(
  data: ObjectData,
  rules: ConnectorRules,
): Readonly<Record<string, string>> | undefined {
  const nin = foldedNin(data)
  const found = joinKeyValues(data, rules).filter(({ key }) => !KEYS_AS_SENT.includes(key))
  if (nin !== undefined && nin !== data.nin) found.push({ key: 'nin', value: nin })
  return found.length === 0 ? undefined : Object.fromEntries(found.map(({ key, value }) => [key, value]))
}

/** Two different `nin` are two people, whichever other key they share. */
export function areOtherPeople(left: WithKeys, right: WithKeys): boolean {
  const [first, second] = [foldedNin(left.data), foldedNin(right.data)]
  return first !== undefined && second !== undefined && first !== second
}

/** Whether the identity's value of this key can join it with others. An account that is not bound still finds one. */
export function hasJoiningValue({ connectorId }: WithKeys, key: string, rules: ConnectorRules): boolean {
  return key !== ACCOUNT || rules.bindsAccounts(connectorId) || rules.supplements(connectorId)
}

/** Whether this key says that two identities of different connectors are one person. */
export function joins(left: WithKeys, right: WithKeys, key: string, rules: ConnectorRules): boolean {
  const [first, second] = [left, right].map((identity) =>
    hasJoiningValue(identity, key, rules) ? foldedKey(identity.data, key, rules) : undefined,
  )
  if (first === undefined || first !== second || left.connectorId === right.connectorId) return false
  if (rules.supplements(left.connectorId) && rules.supplements(right.connectorId)) return false
  return (rules.joinsOn(left.connectorId, key) || rules.joinsOn(right.connectorId, key)) && !areOtherPeople(left, right)
}
