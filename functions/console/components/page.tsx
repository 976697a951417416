import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { hrefOf, viewPath } from '../router.ts'

type PageProps = {
  readonly title: string
  /** The list that the view belongs to. */
  readonly back?: { readonly path: string; readonly text: string }
  /** What is known of the record, below the title. */
  readonly facts?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A view with its heading, which gets the focus when the view opens, so that screen readers announce it. */
export function Page({ title, back, facts, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    document.title = `${title} · ${t('product')}`
  }, [title])
  return (
    <>
      {back !== undefined && (
        <a class="back" href={hrefOf(back.path)}>
          {back.text}
        </a>
      )}
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {facts !== undefined && <div class="facts">{facts}</div>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

type SectionProps = {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section class="card">
      <header class="section-head">
        <h2>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

type TabsProps = {
  readonly label: string
  readonly tabs: readonly { readonly path: string; readonly text: string }[]
}

/** What is left of the current entry stays visible in part. */
const MARGIN_PX = 48

/** Scrolls a menu or tabs to the current entry: in a narrow window they scroll sideways. */
export function useScrolledNav(path: string): RefObject<HTMLElement | null> {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (current) nav.current?.scrollTo({ left: current.offsetLeft - MARGIN_PX })
  }, [path])
  return nav
}

/** The parts of a record, each with a path of its own. */
export function Tabs({ label, tabs }: TabsProps) {
  const path = viewPath.value
  return (
    <nav ref={useScrolledNav(path)} class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.path} href={hrefOf(tab.path)} aria-current={tab.path === path ? 'page' : undefined}>
          {tab.text}
        </a>
      ))}
    </nav>
  )
}
