import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'

/** A part of a record that was changed here and by another person. */
export type Difference = { readonly head: string; readonly mine: string; readonly theirs: string }

type ConflictNoticeProps = {
  readonly differences: readonly Difference[]
  /** Of `hiddenText`, where the form does not show the whole record. */
  readonly hidden?: MessageKey | undefined
  readonly onKeepMine: () => void
  readonly onTakeTheirs: () => void
}

/** Another person has saved the record meanwhile: shows both versions and lets the person choose. Nothing is lost. */
export function ConflictNotice({ differences, hidden, onKeepMine, onTakeTheirs }: ConflictNoticeProps) {
  return (
    <div class="notice warn" role="alert">
      {differences.length > 0 && <p>{t('staleCompare')}</p>}
      {hidden !== undefined && <p>{t(hidden)}</p>}
      {differences.length === 0 && hidden === undefined && <p>{t('staleSame')}</p>}
      {differences.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{t('part')}</th>
                <th scope="col">{t('mine')}</th>
                <th scope="col">{t('theirs')}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ head, mine, theirs }) => (
                <tr key={head}>
                  <th scope="row">{head}</th>
                  <td>{mine}</td>
                  <td>{theirs}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="actions">
        <button type="button" onClick={onKeepMine}>
          {t('keepMine')}
        </button>
        <button type="button" onClick={onTakeTheirs}>
          {t('takeTheirs')}
        </button>
      </div>
    </div>
  )
}

/** The parts that differ. */
export function differencesOf(parts: readonly Difference[]): readonly Difference[] {
  return parts.filter(({ mine, theirs }) => mine !== theirs)
}

/**
 * What is to be said of the parts of a record that its form does not show.
 * @param isRestored whether the own version has such parts of an earlier version, which replace those of the other one.
 * @returns undefined where both versions have the same.
 */
export function hiddenText(mine: unknown, theirs: unknown, isRestored: boolean): MessageKey | undefined {
  if (JSON.stringify(mine) === JSON.stringify(theirs)) return undefined
  return isRestored ? 'staleHiddenRestored' : 'staleHidden'
}
