import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiFault, ApiRefusal, ApiUnreachable } from '../api.ts'
import { refusalSentence, t, timeOf } from '../language/texts.ts'
import type { Resource } from '../resource.ts'
import { SignInEnded, signInAgain } from '../sign-in.ts'

type LoadedProps<Value> = {
  readonly resource: Resource<Value>
  readonly children: (value: Value) => ComponentChildren
}

/**
 * Shows a loaded value, a skeleton before it, or why it could not be loaded. A value stays visible when a reload fails.
 */
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
export function Skeleton() {
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
  /** Does again what failed. */
  readonly retry?: (() => void) | undefined
  readonly children?: ComponentChildren
}

/** Why something failed, and what the person can do. */
export function ErrorNotice({ error, retry, children }: ErrorNoticeProps) {
  const isRetried = retry !== undefined && !(error instanceof ApiRefusal && error.status < 500 && error.status !== 404)
  return (
    <div class="notice error" role="alert">
      <Reasons error={error} />
      {children}
      {error instanceof SignInEnded ? (
        <SignInAgain onSignedIn={retry} />
      ) : (
        isRetried && (
          <button type="button" onClick={retry}>
            {t('retry')}
          </button>
        )
      )}
    </div>
  )
}

/** Signs in without leaving the page, and then does again what failed. */
function SignInAgain({ onSignedIn }: { readonly onSignedIn: (() => void) | undefined }) {
  const [fault, setFault] = useState<unknown>(undefined)
  const [isSignedIn, setSignedIn] = useState(false)
  const start = () => {
    signInAgain().then(() => {
      setSignedIn(true)
      onSignedIn?.()
    }, setFault)
  }
  if (isSignedIn) return <p>{t('signedInAgain')}</p>
  return (
    <>
      {fault !== undefined && <p>{t('signInFailed', { reason: messageOf(fault) })}</p>}
      <button type="button" onClick={start}>
        {t('signIn')}
      </button>
    </>
  )
}

function Reasons({ error }: { readonly error: unknown }) {
  if (error instanceof SignInEnded) return <p>{t('signInEnded')}</p>
  if (error instanceof ApiUnreachable) return <p>{t('unreachable')}</p>
  if (isStale(error)) return <p>{t('stale')}</p>
  if (error instanceof ApiRefusal && error.faults.length > 0) {
    return error.faults.map((fault) => <Fault key={JSON.stringify(fault)} fault={fault} />)
  }
  return (
    <>
      <p>{t('failed')}</p>
      <p class="hint">{messageOf(error)}</p>
    </>
  )
}

/** A refusal as a sentence of the person's language, and what the API says in particular. */
export function Fault({ fault: { code, message } }: { readonly fault: ApiFault }) {
  const sentence = refusalSentence(code)
  if (sentence === undefined) return <p>{message}</p>
  return (
    <div>
      <p>{sentence}</p>
      <p class="hint" lang="en">
        {message}
      </p>
    </div>
  )
}

/** Whether another person has changed the record that was shown. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiRefusal && (error.status === 412 || error.has('StaleVersion'))
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}
