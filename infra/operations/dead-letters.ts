// `npm run dead-letters`: lists and replays dead-lettered messages.

import { openBus } from '../../shared/messaging/message-sender.ts'
import { CommandError } from '../command.ts'
import { busSettingsOf, type DeadLetterOptions, readDeadLetterOptions, USAGE } from './dead-letter-options.ts'
import { type DeadLetter, deadLettersOf, replayDeadLetters } from './dead-letter-queue.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<number> {
  const options = readDeadLetterOptions(process.argv.slice(2))
  if (options === 'help') {
    say(USAGE)
    return 0
  }
  const client = await openBus(await busSettingsOf(options.settingsFile, process.env))
  try {
    let foundCount = 0
    for (const queue of options.queues) {
      const chosen = (await deadLettersOf(client, queue)).filter((letter) => isChosen(letter, options))
      foundCount += chosen.length
      for (const letter of chosen) say(described(letter))
      if (options.command === 'replay' && !options.isDryRun && chosen.length > 0) {
        say(`${queue}: ${await replayDeadLetters(client, queue, chosen)} of ${chosen.length} replayed`)
      }
    }
    if (foundCount === 0) say('No dead letters')
    return foundCount === 0 && options.messageId !== undefined ? 1 : 0
  } finally {
    await client.close()
  }
}

function isChosen({ messageId }: DeadLetter, options: DeadLetterOptions): boolean {
  return options.messageId === undefined || options.messageId === messageId
}

/** Describes a dead letter without its body, which can be confidential. */
function described(letter: DeadLetter): string {
  const { queue, messageId, enqueuedAt, reason, description, deliveryCount } = letter
  const why = description === undefined ? reason : `${reason}: ${description}`
  return [queue, messageId, enqueuedAt, `${deliveryCount} deliveries`, why].join('  ')
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`dead-letters: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}\n`)
  process.exitCode = error instanceof CommandError ? 2 : 1
}
