import { useEffect, useState } from 'preact/hooks'
import { restorePath, undoable } from '../collection-versions.ts'
import { t } from '../language/texts.ts'
import { hrefOf, viewPath } from '../router.ts'

/** Offers to undo the last saved change, on the pages of its collection, until its time is over. */
export function UndoNotice() {
  const [nowMs, setNowMs] = useState(() => Date.now())
  const change = undoable.value
  useEffect(() => {
    setNowMs(Date.now())
    if (change === undefined) return undefined
    const timer = setTimeout(() => setNowMs(Date.now()), Math.max(0, change.untilMs - Date.now()) + 1)
    return () => clearTimeout(timer)
  }, [change])
  if (change === undefined || nowMs >= change.untilMs) return null
  const path = `/collections/${change.collectionId}`
  const isShown = viewPath.value === path || viewPath.value.startsWith(`${path}/`)
  const isEditing = /\/(edit|edit-policy|restore\/.*)$/.test(viewPath.value)
  if (!isShown || isEditing) return null
  return (
    <div class="notice between">
      <p>{t('undoOffer', { name: change.name })}</p>
      <a class="button" href={hrefOf(restorePath(change.collectionId, change.version))}>
        {t('undo')}
      </a>
    </div>
  )
}
