import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import type { ConsoleFixture, ConsolePage } from '../support/console/console-browser.ts'
import {
  assertNarrow,
  assertSound,
  change,
  criteriaCollection,
  focused,
  heading,
  journey,
  leaf,
  linkToNew,
  openView,
  press,
  synced,
  tabTo,
} from '../support/console/console-steps.ts'

const JOINABLE = '/collections-joinable/beta'
const NORWEGIAN = { locale: 'nb-NO' } as const
const DAY_MS = 86_400_000

/**
 * What the console does beside its main pages, by keyboard alone, in Norwegian, and in windows of each width. Other
 * journeys show the same in English with a mouse.
 */
export function windowJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'undoes by keyboard what holds removals, shows whom it brings back, and restores versions',
    async (fixture) => {
      const withAccount = { groupOperator: 'NOT', conditions: [leaf('identityDirectoryObjectId', 'IsNull')] }
      const id = await criteriaCollection(fixture(), 'Vinduer', [withAccount])
      const linkId = await linkToNew(fixture(), id, 'Gruppe i vinduer')
      await synced(fixture(), id)
      await change(fixture(), id, [leaf('relationshipTitle', 'Equals', 'Ingen')])
      const page = await fixture().openAs('admin', `/links/${linkId}`, NORWEGIAN)
      await page.getByText(/fjerninger er holdt tilbake: mer enn/).waitFor()
      await page.getByText('Stilling: tittel er Ingen').waitFor()
      await page.getByRole('row').nth(1).waitFor()
      await assertFitsWindows(page)
      await press(page, 'Angre endringen som førte til dette')
      const plan = page.getByRole('dialog', { name: 'Hva lagringen endrer' })
      await pressButton(page, plan.getByRole('button', { name: /^\+[1-9]\d*: Blir med$/ }))
      const people = page.getByRole('dialog', { name: 'Blir med' })
      await people.getByRole('row').nth(1).waitFor()
      await page.setViewportSize({ width: 360, height: 800 })
      // The number was in a card; the list behind it has rows.
      assert.equal(await people.getByRole('cell').first().evaluate(displayOf), 'table-cell')
      await assertFitsWindows(page)
      await tabTo(page, 'Søk på navn, tittel, enhet eller konto')
      await page.keyboard.type('grøndahl')
      await people.getByText(/^1 av [1-9]\d*$/).waitFor()
      await press(page, 'Lukk')
      await people.waitFor({ state: 'detached' })
      await assertFitsWindows(page)
      await press(page, 'Lagre')
      await page.getByText('Vinduer ble lagret for litt siden.').waitFor()
      await assertFitsWindows(page)
      await assertPrinted(page)
      while ((await focused(page)) !== 'Angre') await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Enter')
      const remove = plan.getByRole('button', { name: /^Lagre og fjern [1-9]/ })
      await remove.waitFor()
      assert.match((await remove.getAttribute('class')) ?? '', /danger/)
      await assertFitsWindows(page)
      page.on('dialog', (question) => void question.accept())
      await press(page, 'Tilbake til redigering')
      await openView(page, `/collections/${id}/audit`)
      await page.getByRole('link', { name: 'Gjenopprett denne versjonen' }).first().waitFor()
      await assertFitsWindows(page)
      await press(page, 'Gjenopprett denne versjonen')
      await heading(page, /^Gjenopprett versjonen/).waitFor()
      await plan.waitFor()
    },
  )

  journey(
    fixture,
    'plans by keyboard who stays in a group and because of whom, and leaves these out',
    async (fixture) => {
      const without = leaf('identityDirectoryObjectId', 'IsNull')
      const adviser = leaf('relationshipTitle', 'Equals', 'Adviser')
      const id = await criteriaCollection(fixture(), 'Uten konto', [
        { groupOperator: 'OR', conditions: [without, adviser] },
      ])
      const linkId = await linkToNew(fixture(), id, 'Gruppe uten konto')
      await synced(fixture(), id)
      const page = await fixture().openAs('admin', `/collections/${id}/edit`, NORWEGIAN)
      await page.getByText('passer nå').first().waitFor()
      await tabTo(page, 'Verdi')
      await page.keyboard.type('Ingen')
      await press(page, 'Se over og lagre')
      const plan = page.getByRole('dialog', { name: 'Hva lagringen endrer' })
      await plan.getByRole('button', { name: /^Ingen blir fjernet: [1-9]/ }).waitFor()
      const paused = /Gruppe uten konto: Fjerninger satt på pause: [1-9]\d* medlemm?e?r? har ingen konto\. \p{Lu}/u
      await plan.getByRole('listitem').filter({ hasText: paused }).waitFor()
      await plan.getByText('Ingen har verdien Ingen (Stilling: tittel).').waitFor()
      await assertFitsWindows(page)
      await pressButton(page, plan.getByRole('button', { name: /^Lagre/ }))
      await page.getByText('Uten konto ble lagret for litt siden.').waitFor()
      await openView(page, `/links/${linkId}`)
      await page.getByText(/^Fjerninger satt på pause: [1-9]/).waitFor()
      await assertFitsWindows(page)
      await press(page, 'Hold dem utenfor denne koblingen')
      await page.getByRole('dialog').waitFor()
      await press(page, 'Hold dem utenfor denne koblingen')
      await page.getByRole('heading', { name: 'Holdt utenfor denne koblingen' }).waitFor()
      await page.getByText(/^Fjerninger satt på pause: [1-9]/).waitFor({ state: 'detached' })
      await assertFitsWindows(page)
    },
  )

  journey(
    fixture,
    'builds by keyboard from the tree of units, and tries the condition with a person',
    async (fixture) => {
      const page = await fixture().openAs('admin', '/collections/new', NORWEGIAN)
      await heading(page, 'Ny samling etter betingelse').waitFor()
      await assertShowsLastFound(page)
      await tabTo(page, 'Attributt')
      await page.keyboard.type('enhet eller u')
      await page.getByRole('option', { name: 'Enhet eller under' }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await press(page, 'Velg fra treet')
      const tree = page.getByRole('dialog', { name: 'Velg en enhet' })
      await pressButton(page, tree.getByRole('button', { name: /^Enheter under / }).first())
      const unit = tree.locator('.tree .tree .link').first()
      await unit.waitFor()
      await assertFitsWindows(page)
      const name = (await unit.textContent()) ?? ''
      await press(page, name)
      await page.getByText(`Enhet eller under er ${name}`).waitFor()
      await tabTo(page, 'Hvem det prøves med')
      await page.keyboard.type('emil øv')
      await page.getByRole('button', { name: /^Emil Øvrebø/ }).waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText(/^(Treffer|Treffer ikke)$/).waitFor()
      await page.getByText(/^[1-9]\d* passer nå$/).waitFor()
      await assertFitsWindows(page)
    },
  )

  journey(fixture, 'lets a person extend and leave a membership, and name a deputy, by keyboard', async (fixture) => {
    const [soon, later] = [3, 20].map((days) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10))
    const body = { objectType: 'Identity', name: 'Båtplass', joinPolicy: { approvalRequired: false, maxDays: 30 } }
    const id = await fixture().call<string>('admin', 'POST', JOINABLE, body)
    await fixture().call('manager', 'POST', `${JOINABLE}/membership-requests/${id}/submit`, { endsAt: soon })
    const page = await fixture().openAs('manager', '/me', NORWEGIAN)
    await page
      .getByRole('row', { name: /Båtplass/ })
      .first()
      .waitFor()
    await press(page, 'Forleng')
    await page
      .getByRole('dialog')
      .getByText(/Båtplass slutter /)
      .waitFor()
    await tabTo(page, 'Ny slutt')
    await page.locator(':focus').fill(later ?? '')
    await assertFitsWindows(page)
    await press(page, 'Forleng')
    await page.getByText(/^Båtplass varer nå til /).waitFor()
    await press(page, 'Meld ut')
    await page
      .getByRole('dialog')
      .getByText(/Melde deg ut av Båtplass\?/)
      .waitFor()
    await press(page, 'Meld ut')
    await page.getByText('Du har meldt deg ut av Båtplass.').waitFor()
    await assertFitsWindows(page)
    await openView(page, '/home')
    await heading(page, 'Oversikt').waitFor()
    await assertFitsWindows(page)
    await openView(page, '/inbox')
    await heading(page, 'Til godkjenning').waitFor()
    // It comes with the deputies, after the heading.
    await page.getByLabel('Finn stedfortrederen din').waitFor()
    await tabTo(page, 'Finn stedfortrederen din')
    await page.keyboard.type('kolbjørn dåvik')
    await page.getByRole('button', { name: /^Kolbjørn Dåvik/ }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Til')
    await page.locator(':focus').fill(later ?? '')
    await assertFitsWindows(page)
    await press(page, 'Velg stedfortreder')
    await page.getByText(/^Kolbjørn Dåvik avgjør i stedet for deg fra /).waitFor()
    await press(page, 'Fjern stedfortreder')
    await page.getByText('Du har ingen stedfortreder lenger.').waitFor()
  })

  journey(
    fixture,
    'adds a source by keyboard, and gives attributes types that fit values and other sources',
    async (fixture) => {
      const page = await fixture().openAs('coreAdmin', '/connectors/new', NORWEGIAN)
      await heading(page, 'Legg til en kilde').waitFor()
      await tabTo(page, 'Navn')
      await page.keyboard.type('Lønn')
      await tabTo(page, 'Applikasjon')
      await page.keyboard.type('b0a1f6a4-7a0e-4f0e-8f1a-6a1c58a0d9e2')
      await assertFitsWindows(page)
      await press(page, 'Legg til en kilde')
      await page.getByText('Lønn er lagt til. Den venter på de første dataene.').waitFor()
      const own = new URL(page.url()).pathname.replace('/console', '')
      await openView(page, '/connectors')
      await heading(page, 'Kilder').waitFor()
      await press(page, 'Demo HR')
      await heading(page, 'Demo HR').waitFor()
      const demo = new URL(page.url()).pathname.replace('/console', '')
      await addType(page, 'Heltall')
      await press(page, 'Lagre')
      await page.getByRole('alert').getByText('Noen verdier kan ikke leses som den nye typen.').waitFor()
      await page
        .getByRole('alert')
        .getByText(/shirt_size/)
        .waitFor()
      await assertFitsWindows(page)
      await choose(page, 'Type', 'Liste av tekster')
      await press(page, 'Lagre')
      await page.getByText('Lagret.').waitFor()
      await openView(page, own)
      await heading(page, 'Lønn').waitFor()
      await addType(page, 'Heltall')
      await press(page, 'Lagre')
      await page.getByRole('alert').getByText('En annen kilde gir dette attributtet en annen type.').waitFor()
      await assertFitsWindows(page)
      await openView(page, demo)
      page.on('dialog', (question) => void question.accept())
      await press(page, 'Fjern shirt_size')
      await press(page, 'Lagre')
      await page.getByText('Lagret.').waitFor()
    },
  )

  journey(
    fixture,
    'sends events by keyboard, says why one is not received, and forgets what it said',
    async (fixture) => {
      const page = await fixture().openAs('collectionsAdmin', '/subscriptions/new', NORWEGIAN)
      await heading(page, 'Nytt abonnement').waitFor()
      await tabTo(page, 'Adresse')
      await page.keyboard.press('Control+a')
      await page.keyboard.type('http://127.0.0.1:9/ingen')
      // Other journeys change members: their events would make a long list.
      for (const types of [
        'Medlemmer legges til eller fjernes',
        'Fjerninger holdes tilbake, godkjennes eller avslås',
      ]) {
        await tabTo(page, types)
        await page.keyboard.press('Space')
      }
      await press(page, 'Nytt abonnement')
      await page.getByText(/^whsec_/).waitFor()
      await assertFitsWindows(page)
      await press(page, 'Lukk')
      await heading(page, 'http://127.0.0.1:9/ingen').waitFor()
      await press(page, 'Send en testhendelse')
      await page.getByText(/^Testhendelsen er sendt/).waitFor()
      const tried = page.getByRole('row', { name: /subscription\.test Venter 1/ })
      for (let reloads = 0; reloads < 50 && (await tried.count()) === 0; reloads++) {
        const loaded = page.waitForResponse(/deliveries/)
        await press(page, 'Last på nytt')
        await loaded
      }
      // Events of other journeys can come before this one.
      while (!(await tried.getByRole('button', { name: 'Detaljer' }).evaluate(isFocused))) {
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByText('Ingen forbindelse').waitFor()
      await assertFitsWindows(page)
      await press(page, 'Lukk')
      await assertFitsWindows(page)
      await press(page, 'Send på nytt')
      await page.getByText('Hendelsen sendes på nytt.').waitFor()
      await page.evaluate('document.activeElement.blur()')
      await press(page, 'Slett abonnement')
      await page.getByRole('dialog').waitFor()
      await press(page, 'Slett abonnement')
      const said = page.getByText('http://127.0.0.1:9/ingen er slettet.')
      await said.waitFor()
      await page.evaluate('document.activeElement.blur()')
      await press(page, 'English')
      await heading(page, 'Events').waitFor()
      assert.equal(await said.count(), 0)
    },
  )
}

/** Runs in the browser. */
function isFocused(element: unknown): boolean {
  return (element as { matches(selector: string): boolean }).matches(':focus')
}

/** A phone, a tablet and a desktop. A tablet has the structure of one of the others, but other colours. */
const WINDOWS = [
  { width: 360, colorScheme: 'dark', rules: 'all' },
  { width: 768, colorScheme: 'light', rules: 'colours' },
  { width: 1280, colorScheme: 'dark', rules: 'all' },
] as const

/** What is shown, dialogs included, is sound in windows of each width and not wider than these. */
async function assertFitsWindows(page: ConsolePage): Promise<void> {
  for (const { width, colorScheme, rules } of WINDOWS) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    await assertNarrow(page, width)
    assert.equal(
      await page.locator('dialog[open]').evaluateAll(areNarrow),
      true,
      `a dialog of ${page.url()}, ${width} wide`,
    )
    await assertSound(page, rules)
  }
}

/** Whether nothing in the dialogs is beside them. Runs in the browser. */
function areNarrow(dialogs: unknown[]): boolean {
  type Sizes = { readonly scrollWidth: number; readonly clientWidth: number }
  return dialogs.every((dialog) => (dialog as Sizes).scrollWidth <= (dialog as Sizes).clientWidth)
}

/** Runs in the browser. */
function displayOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { readonly display: string } }
  return getComputedStyle(element).display
}

/** On paper, there are the heading and the lists without the menu and buttons. */
async function assertPrinted(page: ConsolePage): Promise<void> {
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.getByRole('navigation', { name: 'Hovedmeny' }).isVisible(), false)
  assert.equal(await page.getByRole('banner').isVisible(), false)
  assert.equal(await page.getByRole('heading', { level: 1 }).isVisible(), true)
  await page.emulateMedia({ media: 'screen' })
}

/** What Ctrl K finds scrolls with the keys, and Escape closes it at once. */
async function assertShowsLastFound(page: ConsolePage): Promise<void> {
  await page.keyboard.press('Control+k')
  const found = page.getByRole('dialog').getByRole('listbox')
  await found.waitFor()
  await page.keyboard.type('e')
  await page
    .getByRole('dialog')
    .getByText(/^\d{2} funnet$/)
    .waitFor()
  await page.keyboard.press('ArrowUp')
  const last = found.getByRole('option', { selected: true }).and(found.getByRole('option').last())
  await last.waitFor()
  const [list, option] = [await found.boundingBox(), await last.boundingBox()]
  assert.ok(list !== null && option !== null && option.y + option.height <= list.y + list.height + 1)
  await page.keyboard.press('Escape')
  await found.waitFor({ state: 'detached' })
}

/** Moves the focus to a button by keyboard, and presses it. */
async function pressButton(page: ConsolePage, button: Locator): Promise<void> {
  await button.waitFor()
  await press(page, (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '')
}

/** Adds a type of the attribute `shirt_size` of people, by keyboard. */
async function addType(page: ConsolePage, type: string): Promise<void> {
  await press(page, 'Legg til en type')
  await page.keyboard.press('Shift+Tab')
  assert.equal(await focused(page), 'Fjern')
  for (const name of ['Type', 'Attributt']) {
    while ((await focused(page)) !== name) await page.keyboard.press('Shift+Tab')
    if (name === 'Type') await choose(page, name, type)
    else await page.keyboard.type('shirt_size')
  }
}

/** Chooses an option of the select that has the focus, or gets it, by its first letters. */
async function choose(page: ConsolePage, select: string, option: string): Promise<void> {
  while ((await focused(page)) !== select) await page.keyboard.press('Shift+Tab')
  await page.keyboard.type(option)
}
