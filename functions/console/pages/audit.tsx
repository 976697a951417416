import { useState } from 'preact/hooks'
import type { AuditEntry } from '../../../shared/domain/insight/list-audit.ts'
import { restorePath } from '../collection-versions.ts'
import { Dialog } from '../components/actions.tsx'
import { ListSection } from '../components/list-section.tsx'
import { RecordList } from '../components/record-list.tsx'
import type { MessageKey } from '../language/english.ts'
import { t, timeOf } from '../language/texts.ts'
import { withActorNames } from '../object-names.ts'
import { usePages } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { FieldValue } from './audited-value.tsx'

const ENTRIES_PER_PAGE = 200

type NamedEntry = AuditEntry & { readonly actorName: string }

type AuditSectionProps = {
  readonly path: string
  /** The collection whose earlier versions can be restored. */
  readonly collectionId?: string
}

/** What people and applications did, the newest first. @param path of the audit of a collection or of the settings. */
export function AuditSection({ path, collectionId }: AuditSectionProps) {
  const { api } = useConsole()
  const [chosen, setChosen] = useState<NamedEntry | undefined>(undefined)
  const entries = usePages(`${path}?pageSize=${ENTRIES_PER_PAGE}`, async (page, signal) => {
    return withActorNames(api, await api.page<AuditEntry>(page, signal), signal)
  })
  return (
    <ListSection
      list={RecordList}
      title={t('audit')}
      resource={entries}
      loadMore={entries.loadMore}
      keyOf={({ at, action, linkId }) => `${at} ${action} ${linkId}`}
      empty={t('auditEmpty')}
      columns={[
        { head: t('time'), cell: ({ at }) => timeOf(at) },
        { head: t('action'), cell: ({ action }) => t(`audit${action}`) },
        { head: t('actor'), cell: (entry) => entry.actorName },
        { head: t('changedParts'), cell: (entry) => fieldsOf(entry).map(fieldText).join(', ') },
        {
          head: t('actions'),
          cell: (entry) => (
            <div class="actions">
              <button type="button" onClick={() => setChosen(entry)}>
                {t('details')}
              </button>
              {collectionId !== undefined && isEarlierVersion(entry, entries.value ?? []) && (
                <a
                  class="button"
                  href={hrefOf(restorePath(collectionId, entry.version))}
                  aria-label={t('restoreVersion')}
                >
                  {t('restore')}
                </a>
              )}
            </div>
          ),
        },
      ]}
    >
      {chosen !== undefined && <AuditDialog entry={chosen} onClose={() => setChosen(undefined)} />}
    </ListSection>
  )
}

/** Whether an entry has left a definition that is not the current one. @param newestFirst entries from the first one. */
function isEarlierVersion(
  entry: NamedEntry,
  newestFirst: readonly NamedEntry[],
): entry is NamedEntry & { readonly version: string } {
  return entry.version !== null && entry.version !== newestFirst.find(({ version }) => version !== null)?.version
}

type AuditDialogProps = { readonly entry: NamedEntry; readonly onClose: () => void }

/** One action: each changed field with its values before and after. */
function AuditDialog({ entry, onClose }: AuditDialogProps) {
  const { at, action, actorName: actor, linkId, before, after } = entry
  const isChange = Object.keys(before).length > 0 && Object.keys(after).length > 0
  return (
    <Dialog title={t(`audit${action}`)} hasClose onClose={onClose}>
      <p class="facts">
        <span>{timeOf(at)}</span>
        <span>{actor}</span>
        {linkId !== null && action !== 'LinkDeleted' && <a href={hrefOf(`/links/${linkId}`)}>{t('showLink')}</a>}
      </p>
      {fieldsOf(entry).map((field) => (
        <section key={field} class="condition">
          <h3>{fieldText(field)}</h3>
          <div class="versions">
            {(['before', 'after'] as const).map(
              (version) =>
                field in entry[version] && (
                  <div key={version}>
                    {isChange && <p class="faint">{t(version)}</p>}
                    <FieldValue field={field} value={entry[version][field]} />
                  </div>
                ),
            )}
          </div>
        </section>
      ))}
    </Dialog>
  )
}

const FIELD_TEXT: Readonly<Record<string, MessageKey>> = {
  acceptedWithoutAccount: 'leftOut',
  collectionId: 'collection',
  condition: 'condition',
  count: 'heldRemovals',
  description: 'description',
  directoryGroupId: 'group',
  jobId: 'job',
  joinPolicy: 'policy',
  language: 'mailLanguage',
  linkableGroups: 'linkableGroups',
  metadata: 'metadata',
  name: 'name',
  notes: 'notes',
  objectType: 'containedType',
  operators: 'operators',
  removalGuard: 'removalGuard',
  state: 'state',
  timeZone: 'timeZone',
}

function fieldText(field: string): string {
  const key = FIELD_TEXT[field]
  return key === undefined ? field : t(key)
}

/**
 * The fields of an entry that say something. The plan of removals is only an id: who was removed is in the sync. Of an
 * empty description, there are two forms.
 */
function fieldsOf({ before, after }: AuditEntry): string[] {
  const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => field !== 'planId' && !(isEmpty(before[field]) && isEmpty(after[field])),
  )
}
