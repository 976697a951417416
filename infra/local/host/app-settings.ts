export type AppSettings = Readonly<Record<string, string>>

/** How to reach a Service Bus namespace: the plain setting wins over the identity-based one. */
export type BusConnection = { readonly connectionString: string } | { readonly fullyQualifiedNamespace: string }

/** Replaces each `%NAME%` by the setting of that name. @throws naming a setting that is absent. */
export function resolveSettings(text: string, settings: AppSettings): string {
  return text.replace(/%([^%]+)%/g, (_, name: string) => {
    const value = settings[name]
    if (value === undefined) throw new Error(`%${name}% has no value among the settings`)
    return value
  })
}

/** @throws when neither `name` nor `name__fullyQualifiedNamespace` is set, also with the prefix `AzureWebJobs`. */
export function resolveConnection(name: string, settings: AppSettings): BusConnection {
  for (const key of [name, `AzureWebJobs${name}`]) {
    const connectionString = settings[key]
    if (connectionString) return { connectionString }
  }
  for (const key of [name, `AzureWebJobs${name}`]) {
    const fullyQualifiedNamespace = settings[`${key}__fullyQualifiedNamespace`]
    if (fullyQualifiedNamespace) return { fullyQualifiedNamespace }
  }
  throw new Error(`the connection "${name}" is not set: neither ${name} nor ${name}__fullyQualifiedNamespace`)
}
