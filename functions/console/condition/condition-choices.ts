/** What conditions of the tenant can use. */
export type ConditionChoices = {
  /** Types of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>
  readonly collections: readonly { readonly id: string; readonly name: string }[]
  /** The names of what the condition names by id. What the person chooses is added. */
  readonly names: Map<string, string>
}
