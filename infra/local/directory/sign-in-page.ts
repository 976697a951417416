import { createHash } from 'node:crypto'
import type { PersonSeed, TenantSeed } from './seed.ts'

/** People of a tenant who can sign in. */
export type PeopleOfTenant = { readonly tenant: TenantSeed; readonly people: readonly PersonSeed[] }

/** Sends the only form of the page. */
const SUBMIT = 'document.forms[0].submit()'
const SUBMIT_HASH = createHash('sha256').update(SUBMIT).digest('base64')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${SUBMIT_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

type Page = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/**
 * The page on which a demo person is chosen. The choice is posted to the address of the page.
 * @param hint user name of the person whose button has the focus.
 */
export function signInPage(tenants: readonly PeopleOfTenant[], hint: string | undefined): Page {
  const lists = tenants.map(({ tenant, people }) => {
    const buttons = people.map((person) => `<li>${personButton(tenant, person, hint)}</li>`).join('')
    return `<h2>${text(tenant.domain)}</h2><ul>${buttons}</ul>`
  })
  return page(
    200,
    'Sign in',
    `<p>Local directory with demo data. Select a person to sign in.</p><form method="post">${lists.join('')}</form>`,
  )
}

function personButton({ tenantId }: TenantSeed, person: PersonSeed, hint: string | undefined): string {
  const { objectId, displayName, username, roles } = person
  const focus = username.toLowerCase() === hint?.toLowerCase() ? ' autofocus' : ''
  const described = roles.length === 0 ? 'no role' : roles.join(', ')
  return (
    `<button name="person" value="${text(tenantId)}/${text(objectId)}"${focus}><strong>${text(displayName)}</strong>` +
    `<span>${text(username)}</span><small>${text(described)}</small></button>`
  )
}

/** Posts the values to the client. OAuth 2.0 Form Post Response Mode, section 2. */
export function formPostPage(action: string, values: URLSearchParams): Page {
  const inputs = [...values].map(([name, value]) => `<input type="hidden" name="${text(name)}" value="${text(value)}">`)
  const form = `<form method="post" action="${text(action)}">${inputs.join('')}<button>Continue</button></form>`
  return page(200, 'Signed in', `${form}<script>${SUBMIT}</script>`)
}

/** A page without a form: a failed request, or the end of a session. */
export function messagePage(status: number, title: string, message: string): Page {
  return page(status, title, `<p>${text(message)}</p>`)
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif }
body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem }
button { width: 100%; display: grid; gap: .1rem; padding: .6rem .8rem; text-align: start; font: inherit; cursor: pointer;
  border: 1px solid GrayText; border-radius: 4px; background: Canvas; color: CanvasText }
button:hover { background: Highlight; color: HighlightText }
button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px }
`

function page(status: number, title: string, content: string): Page {
  const body =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${text(title)}</title><style>${STYLE}</style></head><body><main><h1>${text(title)}</h1>${content}</main></body></html>`
  return { status, headers: HEADERS, body }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
