/**
 * What the core objects must be, from the acknowledged writes of the sources. Independent of the service: it shares no
 * code with it.
 */

export type SourceName = 'hr' | 'accounts' | 'payroll' | 'cards'
/** In order of creation: the attributes of the first source win. */
export const SOURCE_NAMES: readonly SourceName[] = ['hr', 'accounts', 'payroll', 'cards']
/** How the identities of a source join those of others, and what they may do there. */
export type SourceRules = {
  readonly joinOn: readonly string[]
  readonly authority: 'Full' | 'Supplement'
  readonly bindsAccounts: boolean
}
export const DEFAULT_RULES: SourceRules = {
  joinOn: ['nin', 'directoryObjectId'],
  authority: 'Full',
  bindsAccounts: true,
}
export type ObjectKind = 'identity' | 'orgUnit' | 'relationship'
export type ObjectData = Readonly<Record<string, unknown>>

export type ModelIdentity = {
  /** The national identity number, or the external id of one without. */
  readonly nin: string
  readonly externalId: string
  readonly attributes: ObjectData
  readonly account: string | undefined
}
export type ModelObject = { readonly externalId: string; readonly attributes: ObjectData }

/** What a condition is evaluated on. */
export type ModelRow = {
  readonly identity: ModelIdentity | undefined
  readonly relationship: ModelObject | undefined
  readonly orgUnit: ModelObject | undefined
}

const REFERENCES = ['identity', 'orgUnit', 'parent', 'manager']
const REFERENCES_TO: Readonly<Record<ObjectKind, readonly string[]>> = {
  identity: ['identity', 'manager'],
  orgUnit: ['orgUnit', 'parent'],
  relationship: [],
}

export class PeopleModel {
  readonly #objects = new Map<SourceName, Map<string, ObjectData>>(SOURCE_NAMES.map((name) => [name, new Map()]))
  readonly #rules = new Map<SourceName, SourceRules>(SOURCE_NAMES.map((name) => [name, DEFAULT_RULES]))

  /** Objects that were ever written: a deleted one is kept, so that it can be restored. */
  readonly deliveredKeys = new Set<string>()

  /** All that it holds, for a copy. */
  get contents(): readonly (Map<string, unknown> | Set<string>)[] {
    return [...this.#objects.values(), this.#rules, this.deliveredKeys]
  }

  /** @param data undefined deletes the object */
  write(source: SourceName, kind: ObjectKind, externalId: string, data: ObjectData | undefined): void {
    const objects = this.#of(source)
    this.deliveredKeys.add(`${source}/${kind}/${externalId}`)
    if (data === undefined) objects.delete(`${kind}/${externalId}`)
    else objects.set(`${kind}/${externalId}`, data)
  }

  /** Gives an object, also a deleted one, another name. What refers to it follows. */
  rename(source: SourceName, kind: ObjectKind, former: string, name: string): void {
    const objects = this.#of(source)
    this.deliveredKeys.add(`${source}/${kind}/${name}`)
    const renamed = objects.get(`${kind}/${former}`)
    objects.delete(`${kind}/${former}`)
    if (renamed !== undefined) objects.set(`${kind}/${name}`, renamed)
    for (const [key, data] of objects) {
      const followed = REFERENCES_TO[kind].filter((reference) => referredId(data[reference]) === former)
      const references = followed.map((reference) => [reference, { externalId: name }])
      if (references.length > 0) objects.set(key, { ...data, ...Object.fromEntries(references) })
    }
  }

  find(source: SourceName, kind: ObjectKind, externalId: string): ObjectData | undefined {
    return this.#of(source).get(`${kind}/${externalId}`)
  }

  /** The objects of one kind that a source has, by external id. */
  objects(source: SourceName, kind: ObjectKind): Map<string, ObjectData> {
    const entries = [...this.#of(source)].filter(([key]) => key.startsWith(`${kind}/`))
    return new Map(entries.map(([key, data]) => [key.slice(kind.length + 1), data]))
  }

  rulesOf(source: SourceName): SourceRules {
    return this.#rules.get(source) ?? DEFAULT_RULES
  }

  setRules(source: SourceName, rules: Partial<SourceRules>): void {
    this.#rules.set(source, { ...this.rulesOf(source), ...rules })
  }

  /**
   * By national identity number, or external id of one without. The source that was created first wins. One that
   * supplements others makes no identity and binds no account.
   * @param areCardsJoined whether a card is one person with its holder
   */
  identities(areCardsJoined = true): Map<string, ModelIdentity> {
    const merged = new Map<string, ModelIdentity>()
    const holderOf = areCardsJoined ? this.#holdersOfCards() : () => undefined
    for (const source of SOURCE_NAMES) {
      const { authority, bindsAccounts } = this.rulesOf(source)
      for (const [externalId, sent] of this.objects(source, 'identity')) {
        const nin = String(sent.nin ?? holderOf(sent) ?? externalId)
        const first = merged.get(nin)
        if (first === undefined && authority === 'Supplement') continue
        const { directoryObjectId: _ignored, ...withoutAccount } = sent
        const data = bindsAccounts && authority === 'Full' ? sent : withoutAccount
        const attributes = { ...data, ...first?.attributes }
        const account = attributes.directoryObjectId as string | undefined
        merged.set(nin, { nin, externalId: first?.externalId ?? externalId, attributes, account })
      }
    }
    return merged
  }

  /** Finds the number of the one person of the HR system who has a key of a card that counts for either source. */
  #holdersOfCards(): (card: ObjectData) => string | undefined {
    const keys = [...this.rulesOf('cards').joinOn, ...this.rulesOf('hr').joinOn]
    const people = [...this.objects('hr', 'identity').values()].filter(
      ({ employeeNumber }) => employeeNumber !== undefined,
    )
    return (card) => {
      const isHolder = (person: ObjectData) =>
        keys.some((key) => card[key] !== undefined && folded(card[key]) === folded(person[key]))
      return people.find(isHolder)?.nin as string | undefined
    }
  }

  rows(identities = this.identities()): ModelRow[] {
    const orgUnits = this.objects('hr', 'orgUnit')
    const withPosition = { identities: new Set<string>(), orgUnits: new Set<string>() }
    const rows: ModelRow[] = []
    for (const [externalId, attributes] of this.objects('hr', 'relationship')) {
      const person = this.find('hr', 'identity', referredId(attributes.identity))
      const identity = person && identities.get(String(person.nin))
      const unitId = referredId(attributes.orgUnit)
      const unit = orgUnits.get(unitId)
      if (identity !== undefined) withPosition.identities.add(identity.nin)
      if (unit !== undefined) withPosition.orgUnits.add(unitId)
      const orgUnit = unit && { externalId: unitId, attributes: unit }
      rows.push({ identity, relationship: { externalId, attributes }, orgUnit })
    }
    for (const identity of identities.values()) {
      if (!withPosition.identities.has(identity.nin))
        rows.push({ identity, relationship: undefined, orgUnit: undefined })
    }
    for (const [externalId, attributes] of orgUnits) {
      if (withPosition.orgUnits.has(externalId)) continue
      rows.push({ identity: undefined, relationship: undefined, orgUnit: { externalId, attributes } })
    }
    return rows
  }

  #of(source: SourceName): Map<string, ObjectData> {
    const objects = this.#objects.get(source)
    if (objects === undefined) throw new Error(`There is no source ${source}`)
    return objects
  }
}

const folded = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined)

export function referredId(reference: unknown): string {
  return (reference as { externalId?: string } | undefined)?.externalId ?? ''
}

/** Whether an attribute is a reference, which the API returns as `{ objectId }`. */
export function isReference(name: string): boolean {
  return REFERENCES.includes(name)
}
