import type { Container } from '@azure/cosmos'
import type { ContainerId } from '../../../shared/cosmos/containers.ts'
import type { Life } from '../jobs/mortal-process.ts'

type Containers = (id: ContainerId) => Container

/** The containers as a process sees them whose life may end before or after any call. */
export function mortalContainers(containers: Containers, life: () => Life): Containers {
  const called =
    <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) =>
    (...given: Given): Promise<T> =>
      life().make(() => call(...given))

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
        create: called((...given: Parameters<typeof items.create>) => items.create(...given)),
        upsert: called((...given: Parameters<typeof items.upsert>) => items.upsert(...given)),
        batch: called((...given: Parameters<typeof items.batch>) => items.batch(...given)),
        executeBulkOperations: called((...given: Parameters<typeof items.executeBulkOperations>) =>
          items.executeBulkOperations(...given),
        ),
        query: (...given: Parameters<typeof items.query>) => pages(items.query(...given)),
      },
      item: (...given: Parameters<Container['item']>) => {
        const item = real.item(...given)
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
