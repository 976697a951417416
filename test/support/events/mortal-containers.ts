import type { Container } from '@azure/cosmos'
import type { ContainerId } from '../../../shared/cosmos/containers.ts'
import type { Life } from '../jobs/mortal-process.ts'

type Containers = (id: ContainerId) => Container

/** The containers as a process sees them whose life may end before or after any call. */
export function mortalContainers(containers: Containers, life: () => Life): Containers {
  const called =
    <Given extends unknown[], T>(call: (...args: Given) => Promise<T>) =>
    (...args: Given): Promise<T> =>
      life().make(() => call(...args))

  const pages = (iterator: ReturnType<Container['items']['query']>) => ({
    hasMoreResults: () => iterator.hasMoreResults(),
    fetchNext: called(() => iterator.fetchNext()),
    fetchAll: called(() => iterator.fetchAll()),
  })

  return (id) => {
    const real = containers(id)
    const { items } = real
    const mortal = {
      items: {
        create: called((...args: Parameters<typeof items.create>) => items.create(...args)),
        upsert: called((...args: Parameters<typeof items.upsert>) => items.upsert(...args)),
        batch: called((...args: Parameters<typeof items.batch>) => items.batch(...args)),
        executeBulkOperations: called((...args: Parameters<typeof items.executeBulkOperations>) =>
          items.executeBulkOperations(...args),
        ),
        query: (...args: Parameters<typeof items.query>) => pages(items.query(...args)),
      },
      item: (...args: Parameters<Container['item']>) => {
        const item = real.item(...args)
        return {
          read: called(() => item.read()),
          replace: called((...written: Parameters<typeof item.replace>) => item.replace(...written)),
          delete: called((...options: Parameters<typeof item.delete>) => item.delete(...options)),
        }
      },
    }
    return mortal as unknown as Container
  }
}
