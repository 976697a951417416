/** What conditions of the tenant can use. */
export type ConditionChoices = {
  /** Types of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>
  readonly collections: readonly { readonly id: string; readonly name: string }[]
}
