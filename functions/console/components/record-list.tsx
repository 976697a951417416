import { useEffect, useState } from 'preact/hooks'
import { CardList, type CardListProps } from './card-list.tsx'
import { LongList } from './list.tsx'

/** As in the styles of cards. */
const NARROW = '(width < 37.5rem)'

/** A list of any number of records: a table that scrolls, or cards below each other where a table has no room. */
export function RecordList<Item>(props: CardListProps<Item>) {
  return useIsNarrow() ? <CardList {...props} /> : <LongList {...props} />
}

/** Whether the window is too narrow for tables, also after it was turned or its text was enlarged. */
function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const onChange = () => setNarrow(query.matches)
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [])
  return isNarrow
}
