import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../language/texts.ts'

type PageProps = { readonly title: string; readonly actions?: ComponentChildren; readonly children: ComponentChildren }

/** A view with its heading, which gets the focus when the view opens, so that screen readers announce it. */
export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    document.title = `${title} · ${t('product')}`
  }, [title])
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
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
