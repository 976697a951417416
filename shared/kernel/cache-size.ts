/**
 * The options of an `LRUCache` with at most this many entries. Its memory grows with its entries: with the option `max`,
 * the library allocates the space of all of them at once, which takes milliseconds.
 */
export const upToEntries = (maxCount: number) => ({ maxSize: maxCount, sizeCalculation: () => 1 })
