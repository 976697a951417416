import type { ComponentChildren } from 'preact'
import type { Resource } from '../resource.ts'
import type { ListProps } from './list.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'

type ListSectionProps<Item> = Omit<ListProps<Item>, 'label' | 'items'> & {
  readonly list: (props: ListProps<Item>) => ComponentChildren
  readonly title: string
  readonly hint?: string
  readonly actions?: ComponentChildren
  readonly resource: Resource<readonly Item[]>
  /** What the list opens. */
  readonly children?: ComponentChildren
}

/** A section with one list, which has its name. */
export function ListSection<Item>(props: ListSectionProps<Item>) {
  const { list: List, title, hint, actions, resource, children, ...rest } = props
  return (
    <Section title={title} actions={actions}>
      {hint !== undefined && <p class="hint">{hint}</p>}
      <Loaded resource={resource}>{(items) => <List {...rest} label={title} items={items} />}</Loaded>
      {children}
    </Section>
  )
}
