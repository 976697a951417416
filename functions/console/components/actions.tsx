import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { ErrorNotice } from './loaded.tsx'

/** Runs an action once at a time, and keeps why it failed. */
export function useAction(run: () => Promise<void>) {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const start = async (): Promise<void> => {
    setRunning(true)
    setError(undefined)
    try {
      await run()
    } catch (fault) {
      setError(fault)
    } finally {
      setRunning(false)
    }
  }
  return { isRunning, error, start: () => void start() }
}

type ActionButtonProps = {
  readonly run: () => Promise<void>
  readonly kind?: 'primary' | 'danger' | 'danger filled'
  readonly disabled?: boolean
  readonly children: ComponentChildren
}

/** A button that is disabled while its action runs, and shows why it failed. */
export function ActionButton({ run, kind, disabled = false, children }: ActionButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const action = useAction(run)
  const { isRunning, error } = action
  const start = () => isEntered(button.current) && action.start()
  return (
    <>
      <button
        ref={button}
        type="button"
        class={kind}
        disabled={disabled || isRunning}
        aria-busy={isRunning}
        onClick={start}
      >
        {children}
      </button>
      {error !== undefined && <ErrorNotice error={error} retry={isRunning ? undefined : start} />}
    </>
  )
}

/**
 * Whether all that is entered around a button can be read. A number or a day that cannot be read has an empty text as its
 * value, like none. The browser says at the field what is wrong.
 */
function isEntered(button: HTMLButtonElement | null): boolean {
  const fields = button?.closest('dialog, form, section')
  return fields?.querySelector<HTMLInputElement>('input:invalid, textarea:invalid')?.reportValidity() ?? true
}

type ConfirmedProps = {
  readonly label: string
  readonly question: string
  readonly kind?: 'primary' | 'danger'
  /** The button of the dialog. Default: `label`. */
  readonly confirmLabel?: string
  readonly isReady?: boolean
  /** Closes the dialog when it succeeds. */
  readonly run: () => Promise<void>
  readonly children?: ComponentChildren
}

/**
 * A button that asks before it acts. It does what it has asked about, although the view behind the question may load
 * another plan or version meanwhile: the API then refuses.
 */
export function ConfirmedAction(props: ConfirmedProps) {
  const { label, kind = 'danger', confirmLabel = label, isReady = true, children } = props
  const [asked, setAsked] = useState<Pick<ConfirmedProps, 'question' | 'run'> | undefined>(undefined)
  const close = () => setAsked(undefined)
  // What is entered in the dialog is in the latest action only.
  const { question, run } = children === undefined && asked !== undefined ? asked : props
  return (
    <>
      <button type="button" class={kind === 'danger' ? 'danger' : undefined} onClick={() => setAsked(props)}>
        {label}
      </button>
      {asked !== undefined && (
        <Dialog title={label} onClose={close}>
          <p>{question}</p>
          {children}
          <div class="actions">
            <ActionButton
              kind={kind}
              disabled={!isReady}
              run={async () => {
                await run()
                close()
              }}
            >
              {confirmLabel}
            </ActionButton>
            <button type="button" onClick={close}>
              {t('cancel')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

type DialogProps = {
  readonly title: string
  /** Whether the dialog ends with a button that closes it. Dialogs with actions of their own have it among them. */
  readonly hasClose?: boolean
  /** For tables. */
  readonly isWide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, hasClose = false, isWide = false, onClose, children }: DialogProps) {
  const titleId = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => {
      isGone.current = true
      shown?.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : undefined}
      // A dialog within a dialog closes itself only. The event comes later: one that is gone must not close the next one.
      onClose={(event) => !isGone.current && event.target === event.currentTarget && onClose()}
      aria-labelledby={titleId}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
      {hasClose && (
        <div class="actions">
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </div>
      )}
    </dialog>
  )
}

/**
 * What the last action has done, to be shown above what it changes.
 * @param reload loads what an action has changed.
 * @returns the notice, and what is called after an action.
 */
export function useDone(reload: () => void): readonly [notice: ComponentChildren, onDone: (text: string) => void] {
  const [text, setText] = useState('')
  const onDone = (done: string) => {
    setText(done)
    reload()
  }
  return [<DoneText key="done">{text}</DoneText>, onDone]
}

/** Announces a text as soon as there is one. */
export function DoneText({ children }: { readonly children: string }) {
  return <div role="status">{children !== '' && <Done>{children}</Done>}</div>
}

/** A message after a success, announced by screen readers. */
export function Done({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class="notice done" role="status">
      {children}
    </p>
  )
}
