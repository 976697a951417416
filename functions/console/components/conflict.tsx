import { t } from '../language/texts.ts'

/** A part of a record that was changed here and by another person. */
export type Difference = { readonly head: string; readonly mine: string; readonly theirs: string }

type ConflictNoticeProps = {
  readonly differences: readonly Difference[]
  readonly onKeepMine: () => void
  readonly onTakeTheirs: () => void
}

/** Another person has saved the record meanwhile: shows both versions and lets the person choose. Nothing is lost. */
export function ConflictNotice({ differences, onKeepMine, onTakeTheirs }: ConflictNoticeProps) {
  return (
    <div class="notice warn" role="alert">
      <p>{differences.length === 0 ? t('staleSame') : t('staleCompare')}</p>
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
