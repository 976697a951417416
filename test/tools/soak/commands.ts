import type { ChildProcess } from 'node:child_process'

type Command = { readonly commandId: number; readonly name: string; readonly argument?: unknown }
type CommandReply = { readonly commandId: number; readonly value?: unknown; readonly failure?: string }

export type CommandHandlers = Readonly<Record<string, (argument: never) => unknown>>

/** Serves the commands of the parent process. A process without a parent ends. */
export function serveCommands(handlers: CommandHandlers): void {
  const run = async ({ commandId, name, argument }: Command): Promise<CommandReply> => {
    try {
      return { commandId, value: await handlers[name]?.(argument as never) }
    } catch (error) {
      return { commandId, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }
  process.on('message', (message: Partial<Command>) => {
    if (message.commandId !== undefined) void run(message as Command).then((reply) => process.send?.(reply))
  })
  process.once('disconnect', () => process.exit(0))
}

/** Sends a command and resolves with its result. Rejects with the failure of the command, or when the process ends. */
export type SendCommand = <Value>(name: string, argument?: unknown) => Promise<Value>

export function commandsTo(child: ChildProcess, processName: string): SendCommand {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let lastId = 0
  child.on('message', ({ commandId, value, failure }: CommandReply) => {
    const caller = waiting.get(commandId)
    waiting.delete(commandId)
    if (failure === undefined) caller?.resolve(value)
    else caller?.reject(new Error(`${processName}: ${failure}`))
  })
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${processName} ended with ${code ?? signal}`))
    waiting.clear()
  })
  return <Value>(name: string, argument?: unknown) =>
    new Promise<Value>((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve: resolve as (value: unknown) => void, reject })
      child.send({ commandId: lastId, name, argument } satisfies Command, (error) => {
        if (error !== null) reject(error)
      })
    })
}
