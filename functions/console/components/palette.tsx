import { useId, useLayoutEffect, useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { Api } from '../api.ts'
import type { MessageKey } from '../language/english.ts'
import { compareByLocale, t } from '../language/texts.ts'
import { groupNameOf, isTextIn, searchPeople } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { leaveFor } from '../router.ts'
import { findsPeople, isCollectionsAdministrator, useConsole } from '../session.ts'
import { Dialog } from './actions.tsx'
import { useFound } from './item-picker.tsx'
import { ErrorNotice } from './loaded.tsx'

/** Something that can be opened. */
export type Target = {
  readonly path: string
  readonly name: string
  readonly detail: string
  readonly kind: MessageKey
}

type PaletteProps = { readonly views: readonly Target[]; readonly onClose: () => void }

const SHOWN_OF_KIND_COUNT = 7

/** Finds people, collections, groups and views by name, and opens them by keyboard. */
export function Palette({ views, onClose }: PaletteProps) {
  const { api, me } = useConsole()
  const listId = useId()
  const [text, setText] = useState('')
  const [place, setPlace] = useState(0)
  const wanted = text.trim()
  const managesCollections = isCollectionsAdministrator(me)
  const isFinder = findsPeople(me)
  const records = useResource('records', () => (managesCollections ? readRecords(api) : Promise.resolve([])))
  const people = useFound(isFinder ? wanted : '', (name, signal) => readPeople(name, api, signal))
  const isFound = ({ name, detail }: Target) => isTextIn(wanted, [`${name} ${detail}`])
  const found =
    wanted === ''
      ? views
      : [...(people.value ?? []), ...firstOfEachKind((records.value ?? []).filter(isFound)), ...views.filter(isFound)]
  const current = Math.min(place, found.length - 1)
  useLayoutEffect(() => {
    document.getElementById(`${listId}-${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [current, found.length])
  const open = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    leaveFor(target.path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setPlace((current + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') open(found[current])
    // Otherwise the browser would only clear the field.
    else if (event.key === 'Escape') onClose()
    else return
    event.preventDefault()
  }
  const isSearching = people.isLoading || records.isLoading
  return (
    <Dialog title={t('findAnything')} hasClose onClose={onClose}>
      <label class="field">
        <span class="visually-hidden">{t(isFinder ? 'findAnythingLabel' : 'findView')}</span>
        <input
          type="search"
          // biome-ignore lint/a11y/noRedundantRoles: there is no list element, so that the role is not implied
          role="combobox"
          list={undefined}
          autocomplete="off"
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-activedescendant={found.length === 0 ? undefined : `${listId}-${current}`}
          placeholder={t(isFinder ? 'findAnythingLabel' : 'findView')}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setPlace(0)
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      {(people.error ?? records.error) !== undefined && <ErrorNotice error={people.error ?? records.error} />}
      <p class="hint" role="status">
        {wanted !== '' && !isSearching && t('foundCount', { count: found.length })}
      </p>
      <div id={listId} role="listbox" aria-label={t('findAnything')} class="found results">
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the search field has the focus and takes the keys
          <div
            key={target.path + target.name}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => open(target)}
          >
            <span>
              {target.name} <small class="hint">{target.detail}</small>
            </span>
            <small class="hint">{t(target.kind)}</small>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

function firstOfEachKind(targets: readonly Target[]): Target[] {
  const counts = new Map<string, number>()
  return targets.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= SHOWN_OF_KIND_COUNT
  })
}

async function readRecords(api: Api): Promise<readonly Target[]> {
  const [collections, links] = await Promise.all([
    api.all<CollectionDto>('/collections/beta'),
    api.all<GroupLinkDto>('/group-link/beta/group-links'),
  ])
  const names = new Map(collections.map(({ id, name }) => [id, name]))
  const targets: Target[] = [
    ...collections.map(({ id, name, description }) => ({
      path: `/collections/${id}`,
      name,
      detail: description ?? '',
      kind: 'collection' as const,
    })),
    ...links.map((link) => ({
      path: `/links/${link.id}`,
      name: groupNameOf(link),
      detail: names.get(link.collectionId) ?? '',
      kind: 'group' as const,
    })),
  ]
  return targets.sort((left, right) => compareByLocale(left.name, right.name))
}

async function readPeople(text: string, api: Api, signal: AbortSignal): Promise<readonly Target[]> {
  const people = await searchPeople(api, text, signal)
  return people
    .slice(0, SHOWN_OF_KIND_COUNT)
    .map(({ id, name, detail = '' }) => ({ path: `/people/${id}`, name, detail, kind: 'onePerson' }))
}
