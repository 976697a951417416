/** An identity of a connector, as far as it says who is who. */
export type ModelIdentity = {
  /** Unique among all connectors. In one connector, lower ids come first. */
  readonly id: string
  /** The older connector has the lower number. */
  readonly connector: number
  readonly data: Readonly<Record<string, unknown>>
}

export type ModelConnector = {
  readonly joinOn: readonly string[]
  readonly supplements?: boolean
  readonly bindsAccounts?: boolean
}

const DEFAULTS: ModelConnector = { joinOn: ['nin', 'directoryObjectId'] }

/**
 * A naive model of who is who: after each change it looks at all identities, remembering only who was one person before.
 */
export class PeopleModel {
  readonly #connectors: ModelConnector[]
  readonly #identities = new Map<string, ModelIdentity>()
  #people: string[][] = []

  constructor(connectors: readonly ModelConnector[] = []) {
    this.#connectors = [...connectors]
  }

  /** Adds or replaces an identity. */
  put(identity: ModelIdentity): void {
    this.#identities.set(identity.id, identity)
    this.#regroup()
  }

  remove(id: string): void {
    this.#identities.delete(id)
    this.#regroup()
  }

  /** Gives an identity another id, and replaces it. */
  rename(id: string, identity: ModelIdentity): void {
    this.#identities.delete(id)
    this.#identities.set(identity.id, identity)
    this.#people = this.#people.map((person) => person.map((each) => (each === id ? identity.id : each)))
    this.#regroup()
  }

  /** A model that changes independently of this one. */
  copy(): PeopleModel {
    const copy = new PeopleModel(this.#connectors)
    for (const [id, identity] of this.#identities) copy.#identities.set(id, identity)
    copy.#people = this.#people.map((person) => [...person])
    return copy
  }

  identities(): readonly ModelIdentity[] {
    return [...this.#identities.values()]
  }

  find(id: string): ModelIdentity | undefined {
    return this.#identities.get(id)
  }

  /**
   * Whether another external id of the connector continues the person, when this one is deleted and no other identity
   * of the connector has the keys.
   */
  canBeRekeyed(id: string): boolean {
    const { connector, data } = this.#get(id)
    const { joinOn, supplements = false } = this.#settings(id)
    if (supplements) return false
    const own = joinOn.filter((key) => this.#value(id, key) !== undefined)
    const others = [...this.#identities.values()].filter((other) => other.connector === connector && other.id !== id)
    return own.length > 0 && own.every((key) => others.every((other) => other.data[key] !== data[key]))
  }

  /** The other identities of the connector that share a key with this one: one of them can go on as its person. */
  doublesOf(id: string): string[] {
    const { connector, data } = this.#get(id)
    const isDouble = (other: ModelIdentity): boolean =>
      other.id !== id &&
      other.connector === connector &&
      this.#settings(id).joinOn.some((key) => data[key] !== undefined && data[key] === other.data[key])
    return this.identities()
      .filter(isDouble)
      .map((other) => other.id)
  }

  /** Takes as one who were one for a moment. */
  wereOne(people: Iterable<readonly string[]>): void {
    for (const person of people) {
      const { joined = [], others = [] } = Object.groupBy(this.#people, (each) =>
        each.some((id) => person.includes(id)) ? 'joined' : 'others',
      )
      this.#people = [[...new Set([...person, ...joined.flat()])], ...others]
    }
    this.#regroup()
  }

  change(connector: number, settings: ModelConnector): void {
    this.#connectors[connector] = settings
    this.#regroup()
  }

  /** The ids of each person's identities. Those of supplementing connectors that belong to no person are in none. */
  people(): readonly (readonly string[])[] {
    return this.#people
  }

  #settings(id: string): ModelConnector {
    return this.#connectors[this.#get(id).connector] ?? DEFAULTS
  }

  #get(id: string): ModelIdentity {
    const found = this.#identities.get(id)
    if (found === undefined) throw new Error(`There is no ${id}`)
    return found
  }

  #value(id: string, key: string): unknown {
    const { bindsAccounts = true, supplements = false } = this.#settings(id)
    return key !== 'directoryObjectId' || bindsAccounts || supplements ? this.#get(id).data[key] : undefined
  }

  /** Whether the key joins the two, other things being equal. */
  #agree(left: string, right: string, key: string): boolean {
    const value = this.#value(left, key)
    if (value === undefined || value !== this.#value(right, key)) return false
    if (this.#get(left).connector === this.#get(right).connector) return false
    return this.#settings(left).joinOn.includes(key) || this.#settings(right).joinOn.includes(key)
  }

  #fit(some: readonly string[], others: readonly string[]): boolean {
    const nins = [...some, ...others].flatMap((id) => this.#get(id).data.nin ?? [])
    return new Set(nins).size < 2
  }

  /** Who has joined can rule out others as one of two candidates. */
  #regroup(): void {
    for (let before: string | undefined; before !== JSON.stringify(this.#people); ) {
      before = JSON.stringify(this.#people)
      this.#regroupOnce()
    }
  }

  #regroupOnce(): void {
    const before = this.#people.map((person) => person.filter((id) => this.#identities.has(id)))
    const byAge = (left: string, right: string) =>
      this.#get(left).connector - this.#get(right).connector || (left < right ? -1 : 1)
    const all = [...this.#identities.keys()].sort(byAge)
    const full = all.filter((id) => !this.#settings(id).supplements)
    const keys = [
      ...[false, true].flatMap((second) =>
        this.#connectors.flatMap(({ joinOn, supplements = false }) => (supplements === second ? joinOn : [])),
      ),
      ...DEFAULTS.joinOn,
    ].filter((key, index, each) => each.indexOf(key) === index)
    const people = new Map(full.map((id) => [id, [id]]))
    const personOf = (id: string): string[] => people.get(id) as string[]
    const join = (left: string, right: string): void => {
      if (personOf(left) === personOf(right)) return
      const person = [...personOf(left), ...personOf(right)]
      for (const id of person) people.set(id, person)
    }
    const wereOne = (left: string, right: string) =>
      before.some((person) => person.includes(left) && person.includes(right))
    const byValue = (key: string): string[][] =>
      [...Map.groupBy(full, (id) => this.#value(id, key))].flatMap(([value, ids]) =>
        value !== undefined && ids.some((id) => this.#settings(id).joinOn.includes(key)) ? [ids] : [],
      )
    for (const key of keys) {
      for (const ids of byValue(key)) {
        for (const [index, one] of ids.entries()) {
          for (const other of ids.slice(index + 1)) {
            if (this.#agree(one, other, key) && wereOne(one, other) && this.#fit(personOf(one), personOf(other))) {
              join(one, other)
            }
          }
        }
      }
    }
    const ended = new Set<string>()
    for (const key of keys) {
      for (const ids of byValue(key)) {
        const related = ids.filter((id) =>
          ids.some(
            (other) =>
              this.#get(id).connector !== this.#get(other).connector && this.#fit(personOf(id), personOf(other)),
          ),
        )
        const people = new Set(ids.map(personOf))
        const isOpen = related.some((id) => !ended.has(id))
        for (const id of related) ended.add(id)
        if (people.size < 2 || !isOpen) continue
        const connectors = new Set(related.map((id) => this.#get(id).connector))
        const [first, ...others] = related
        if (first === undefined || connectors.size < related.length) continue
        if (!this.#fit(related.flatMap(personOf), [])) continue
        for (const other of others) join(first, other)
      }
    }
    const found = [...new Set(people.values())]
    for (const id of all.filter((each) => this.#settings(each).supplements)) {
      const person = this.#supplemented(id, all, found, before, keys)
      person?.push(id)
    }
    this.#people = found
  }

  #supplemented(
    id: string,
    all: readonly string[],
    people: readonly string[][],
    before: readonly (readonly string[])[],
    keys: readonly string[],
  ): string[] | undefined {
    const carriers = (person: readonly string[]) => person.filter((each) => !this.#settings(each).supplements)
    const matches = (person: readonly string[], key: string) =>
      this.#fit([id], carriers(person)) && carriers(person).some((carrier) => this.#agree(id, carrier, key))
    const former = people.find((person) =>
      before.some((was) => was.includes(id) && carriers(person).some((carrier) => was.includes(carrier))),
    )
    if (former !== undefined && keys.some((key) => matches(former, key))) return former
    for (const key of keys) {
      const found = people.filter((person) => matches(person, key))
      if (found.length === 0) continue
      const value = this.#value(id, key)
      const alike = all.filter(
        (each) => this.#get(each).connector === this.#get(id).connector && this.#value(each, key) === value,
      )
      return found.length === 1 && alike.length === 1 ? found[0] : undefined
    }
    return undefined
  }
}
