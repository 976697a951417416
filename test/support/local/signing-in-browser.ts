/** What a browser does on the sign-in page of the local directory, over HTTP: choose a person, and follow the result. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}
const plain = (html: string) => html.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)

/** The user names that the sign-in page lists, with the value that chooses each. */
export function peopleOn(page: string): ReadonlyMap<string, string> {
  const buttons = page.matchAll(/<button name="person" value="([^"]+)".*?<span>([^<]+)<\/span>/g)
  return new Map([...buttons].map(([, value = '', username = '']) => [plain(username), plain(value)]))
}

/** The address and the values that a page with a form for the client posts. */
export function postedForm(page: string): { readonly action: string; readonly values: URLSearchParams } {
  const action = /<form method="post" action="([^"]+)">/.exec(page)?.[1]
  if (action === undefined) throw new Error(`The page has no form for the client: ${page}`)
  const inputs = page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  const values = new URLSearchParams()
  for (const [, name = '', value = ''] of inputs) values.append(plain(name), plain(value))
  return { action: plain(action), values }
}

/** Signs a person in at the address that a client opens, and delivers the result to the client. */
export async function signInAs(username: string, authorizeUrl: string): Promise<void> {
  const people = peopleOn(await (await fetch(authorizeUrl)).text())
  const person = people.get(username)
  if (person === undefined) throw new Error(`The page lists ${[...people.keys()].join(', ')}, not ${username}`)
  const form = new URLSearchParams({ person })
  const chosen = await fetch(authorizeUrl, { method: 'POST', body: form, redirect: 'manual' })
  const location = chosen.headers.get('location')
  if (location !== null) {
    await fetch(location)
    return
  }
  const { action, values } = postedForm(await chosen.text())
  await fetch(action, { method: 'POST', body: values })
}
