import type { ComponentChildren } from 'preact'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { LinkSettingsDto } from '../../../shared/domain/group-links/link-settings.ts'
import type { Api } from '../api.ts'
import { Loaded } from '../components/loaded.tsx'
import { NamedCondition } from '../condition/named-condition.tsx'
import type { MessageKey } from '../language/english.ts'
import { numberOf, t } from '../language/texts.ts'
import { collectionNames, groupNameOf, namesOf } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import type { JoinPolicyWire } from './edited-policy.ts'
import { PolicyText } from './policy.tsx'

type FieldValueProps = { readonly field: string; readonly value: unknown }

/** A value of the audit to read. One without words of its own is shown as the API has it. */
export function FieldValue({ field, value }: FieldValueProps): ComponentChildren {
  if (value === null || value === undefined || value === '') return <p class="faint">{t('none')}</p>
  if (isOmitted(value)) return <p>{t('auditOmitted')}</p>
  if (field === 'condition') return <NamedCondition condition={value as WireGroup} />
  if (field === 'joinPolicy') return <PolicyText policy={value as JoinPolicyWire} />
  if (field === 'metadata') return <p>{metadataText(value as CollectionDto['metadata']) || t('none')}</p>
  if (field === 'removalGuard') return <GuardText guard={value as LinkSettingsDto['removalGuard']} />
  if (field === 'jobId') return <a href={hrefOf(`/jobs/${value}`)}>{t('details')}</a>
  if (isNamed(field)) return <Names ids={[value].flat().map(String)} read={NAMES[field]} />
  if (typeof value === 'string') return <p>{isWord(value) ? t(value) : value}</p>
  if (Array.isArray(value)) return <p>{value.join(', ') || t('none')}</p>
  return <code>{JSON.stringify(value)}</code>
}

/** A value that is too long for the audit. */
function isOmitted(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'omittedLength' in value
}

function metadataText({ tags, attributes }: CollectionDto['metadata']): string {
  return [...tags, ...Object.entries(attributes).map(([name, value]) => `${name}: ${value}`)].join(', ')
}

function GuardText({
  guard: { enabled, percent, minimum, fourEyes },
}: {
  readonly guard: LinkSettingsDto['removalGuard']
}) {
  const lines = [
    [t('guardEnabled'), t(enabled ? 'yes' : 'no')],
    [t('guardPercent'), numberOf(percent)],
    [t('guardMinimum'), numberOf(minimum)],
    [t('guardFourEyes'), t(fourEyes ? 'yes' : 'no')],
  ]
  return (
    <ul>
      {lines.map(([head, text]) => (
        <li key={head}>
          {head}: {text}
        </li>
      ))}
    </ul>
  )
}

/** Fields that name something by its id, with how its name is found. */
const NAMES = {
  acceptedWithoutAccount: (ids, api, signal) => namesOf(api, 'Identity', ids, signal),
  collectionId: (_, api) => collectionNames(api),
  directoryGroupId: async (_, api) => {
    const all = await api.all<GroupLinkDto>('/group-link/beta/group-links')
    return new Map(all.map((link) => [link.directoryGroupId, groupNameOf(link)]))
  },
} as const satisfies Record<string, ReadNames>

type ReadNames = (ids: readonly string[], api: Api, signal: AbortSignal) => Promise<ReadonlyMap<string, string>>

const isNamed = (field: string): field is keyof typeof NAMES => Object.hasOwn(NAMES, field)

function Names({ ids, read }: { readonly ids: readonly string[]; readonly read: ReadNames }) {
  const { api } = useConsole()
  const names = useResource(ids.join(), (signal) => read(ids, api, signal))
  if (ids.length === 0) return <p class="faint">{t('none')}</p>
  return <Loaded resource={names}>{(found) => <p>{ids.map((id) => found.get(id) ?? id).join(', ')}</p>}</Loaded>
}

const WORDS = [
  'Any',
  'Disabled',
  'Enabled',
  'Identity',
  'OrgUnit',
  'Owned',
  'Relationship',
] as const satisfies readonly MessageKey[]

function isWord(value: string): value is (typeof WORDS)[number] {
  return WORDS.some((word) => word === value)
}
