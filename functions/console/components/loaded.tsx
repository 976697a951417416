import type { ComponentChildren } from 'preact'
import { ApiRefusal, ApiUnreachable } from '../api.ts'
import { t, timeOf } from '../language/texts.ts'
import type { Resource } from '../resource.ts'
import { SignInEnded, signInWithPage } from '../sign-in.ts'

type LoadedProps<Value> = {
  readonly resource: Resource<Value>
  readonly children: (value: Value) => ComponentChildren
}

/** Shows a loaded value, a skeleton before it, or why it could not be loaded. A value stays visible when a reload fails. */
export function Loaded<Value>({ resource, children }: LoadedProps<Value>) {
  const { value, error, loadedAt, reload } = resource
  if (value === undefined && error === undefined) return <Skeleton />
  return (
    <>
      {error !== undefined && (
        <ErrorNotice error={error} retry={reload}>
          {value !== undefined && loadedAt !== undefined && (
            <p>{t('asOf', { time: timeOf(loadedAt.toISOString()) })}</p>
          )}
        </ErrorNotice>
      )}
      {value !== undefined && children(value)}
    </>
  )
}

/** Becomes visible after 200 ms, so that fast loads do not flicker. */
function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label={t('loading')}>
      <span />
      <span />
      <span />
    </div>
  )
}

type ErrorNoticeProps = {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
  readonly children?: ComponentChildren
}

/** Why something failed, and what the person can do. */
export function ErrorNotice({ error, retry, children }: ErrorNoticeProps) {
  return (
    <div class="notice error" role="alert">
      {sentencesOf(error).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {children}
      {error instanceof SignInEnded ? (
        <button type="button" onClick={() => void signInWithPage()}>
          {t('signIn')}
        </button>
      ) : (
        retry && (
          <button type="button" onClick={retry}>
            {isStale(error) ? t('reload') : t('retry')}
          </button>
        )
      )}
    </div>
  )
}

/** Whether somebody else has changed the record that was shown. */
function isStale(error: unknown): boolean {
  return error instanceof ApiRefusal && (error.status === 412 || error.has('StaleVersion'))
}

function sentencesOf(error: unknown): string[] {
  if (error instanceof SignInEnded) return [t('signInEnded')]
  if (error instanceof ApiUnreachable) return [t('unreachable')]
  if (isStale(error)) return [t('stale')]
  if (error instanceof ApiRefusal) return error.faults.map(({ message }) => message)
  return [t('failed'), error instanceof Error ? error.message : String(error)]
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
