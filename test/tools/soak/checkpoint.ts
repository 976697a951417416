import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './hosts.ts'
import type { Organisation } from './organisation.ts'
import type { QuietPointDependencies } from './quiet-point.ts'

type Contents = Map<unknown, unknown> | Set<unknown>

/** Restores the database to the time of the checkpoint, as the guide of operations says. */
export type Checkpoint = { restore(): Promise<void> }

/** Keeps the database of a quiet point, and what the run knows of it. */
export async function takeCheckpoint(deps: QuietPointDependencies): Promise<Checkpoint> {
  const { servers, hosts, organisation } = deps
  const { databaseFile } = servers
  const backup = `${databaseFile}.backup`
  await servers.restart('database', 'SIGTERM', () => copyDatabase(databaseFile, backup))
  const restoreKnowledge = keepKnowledge(deps)
  return {
    async restore() {
      await Promise.all(hosts.map((host) => host.kill('SIGTERM')))
      await servers.restart('database', 'SIGTERM', () => copyDatabase(backup, databaseFile))
      restoreKnowledge()
      organisation.undoneUntilMs = organisation.times.now().latestMs
      await Promise.all(hosts.map((host) => host.start()))
      await Promise.all(hosts.map(untilReady))
      const url = `${hosts[0]?.url}/admin/functions/sweepAfterRestore`
      const { status } = await fetch(url, { method: 'POST', body: '{}' })
      if (status !== 202) throw new Error(`sweepAfterRestore was answered with ${status}`)
    },
  }
}

/** With its log, which has what is not in the file yet. */
function copyDatabase(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(to + suffix, { force: true })
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
}

/** @returns What makes the knowledge of the run as it is now. */
function keepKnowledge({ organisation, formerMembers }: QuietPointDependencies): () => void {
  const { model } = organisation
  const contents = [...contentsOf(organisation), formerMembers]
  const copies = structuredClone(contents)
  const { timeZone, today, isGuarded } = model
  return () => {
    for (const [index, content] of contents.entries()) refill(content, copies[index])
    Object.assign(model, { timeZone, today, isGuarded })
    organisation.watch.observe()
  }
}

function contentsOf(organisation: Organisation): Contents[] {
  const { model, names, receiver } = organisation
  return [
    ...model.people.contents,
    ...[model.criteria, model.joinable, model.links, model.linksWithHolds, model.mailChoices],
    ...[model.deputies, model.deputyEndsMs],
    ...[organisation.changedNins, organisation.pendingChanges, organisation.coreIds, organisation.numbersByCoreId],
    ...[organisation.positionNames, organisation.formerCoreIds, organisation.erasedNins],
    ...[organisation.formerCollectionIds, organisation.mails, names.present, receiver.events],
  ]
}

function refill(content: Contents, copy: Contents | undefined): void {
  content.clear()
  if (content instanceof Map) for (const [key, value] of copy as Map<unknown, unknown>) content.set(key, value)
  else for (const value of copy as Set<unknown>) content.add(value)
}

async function untilReady(host: Host): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await fetch(`${host.url}/ready`)).ok) return
    await sleep(100)
  }
  throw new Error(`Host ${host.index} does not get ready`)
}
