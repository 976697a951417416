import { useEffect, useState } from 'preact/hooks'
import { CardList } from './card-list.tsx'
import { type ListProps, LongList } from './list.tsx'

/** Where the menu is above the view, as in the styles: rows of one line would hide texts and buttons. */
const NARROW = '(width < 56rem)'

/**
 * A list of any number of records: a table of rows with one line, which scrolls. In a narrow window the rows have as many
 * lines as they need, and in a very narrow one they are cards.
 */
export function RecordList<Item>(props: ListProps<Item>) {
  return useIsNarrow() ? <CardList {...props} /> : <LongList {...props} />
}

/** Whether the window is narrow, also after it was turned or its text was enlarged. */
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
