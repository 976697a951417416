import { useState } from 'preact/hooks'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { Api } from '../api.ts'
import { Badge } from '../components/fields.tsx'
import { ItemPicker, PickedItems } from '../components/item-picker.tsx'
import { ErrorNotice } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import type { PickedItem } from '../object-names.ts'
import { type Resource, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { type CompletePart, pointerInTree } from './complete-part.ts'

/** Whether the condition, and each of its lines, holds for a person in some position. By pointers into the tree. */
export type PersonResults = ReadonlyMap<string, boolean>

/** A condition with more lines is tested as a whole only. */
const MAX_LINES_TESTED = 40

/** Tests the complete part of a condition with a person. */
export function useTestedPerson(part: CompletePart, objectType: string) {
  const { api } = useConsole()
  const [person, setPerson] = useState<PickedItem | undefined>(undefined)
  const key = person === undefined ? '' : JSON.stringify([person.id, objectType, part.condition])
  const results = useResource(key, async (signal): Promise<PersonResults> => {
    if (person === undefined || part.condition === undefined) return new Map()
    const lines = linesOf(part.condition, '')
    const tested = [['', part.condition] as const, ...(lines.length > MAX_LINES_TESTED ? [] : lines)]
    return new Map(
      await Promise.all(
        tested.map(async ([pointer, node]) => {
          const holds = await holdsFor(person.id, node, objectType, api, signal)
          return [pointerInTree(pointer, part.pointers), holds] as const
        }),
      ),
    )
  })
  return { person, setPerson, results }
}

type Node = WireGroup['conditions'][number]

function linesOf({ conditions }: WireGroup, pointer: string): (readonly [pointer: string, node: Node])[] {
  return conditions.flatMap((node, index) => {
    const at = `${pointer}/conditions/${index}`
    return 'groupOperator' in node ? linesOf(node, at) : [[at, node] as const]
  })
}

async function holdsFor(id: string, node: Node, objectType: string, api: Api, signal: AbortSignal): Promise<boolean> {
  const person = { id: 'identityId', field: 'identityId', operator: 'Equals', value: id }
  const preview = { objectType, condition: { groupOperator: 'AND', conditions: [person, node] } }
  const body = { preview, limit: 0 }
  const { data } = await api.send<{ counts: { preview: number } }>('POST', '/collections-criteria/beta/preview', {
    body,
    signal,
  })
  return data.counts.preview > 0
}

type TestedPersonProps = {
  readonly person: PickedItem | undefined
  readonly results: Resource<PersonResults>
  readonly onChange: (person: PickedItem | undefined) => void
}

/** Chooses a person, and says whether the condition holds for them. The lines say it for themselves. */
export function TestedPerson({ person, results, onChange }: TestedPersonProps) {
  const holds = results.value?.get('')
  return (
    <Section title={t('tryPerson')}>
      {person !== undefined && <PickedItems items={[person]} onChange={() => onChange(undefined)} />}
      <div role="status">
        {person !== undefined && holds !== undefined && (
          <Badge kind={holds ? 'good' : 'bad'}>{t(holds ? 'personMatches' : 'personMatchesNot')}</Badge>
        )}
      </div>
      {person !== undefined && results.error !== undefined && <ErrorNotice error={results.error} />}
      <ItemPicker label={t('tryPersonFind')} hint={t('tryPersonHint')} onPick={onChange} />
    </Section>
  )
}
