export type AppSettings = Readonly<Record<string, string>>

/** Connection of a Service Bus namespace. A connection string takes precedence over an identity-based connection. */
export type BusConnection = { readonly connectionString: string } | { readonly fullyQualifiedNamespace: string }

/** Replaces `%NAME%` with the setting. @throws Error that names a missing setting */
export function resolveSettings(text: string, settings: AppSettings): string {
  return text.replace(/%([^%]+)%/g, (_, name: string) => {
    const value = settings[name]
    if (value === undefined) throw new Error(`the setting ${name} of %${name}% is missing`)
    return value
  })
}

/** @throws Error if neither `name` nor `name__fullyQualifiedNamespace` is set, with or without the prefix `AzureWebJobs` */
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
