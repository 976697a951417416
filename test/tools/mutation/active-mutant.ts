/** The number of the mutant that runs in this process; 0 for none. */
export let activeMutant = 0

export function activateMutant(number: number): void {
  activeMutant = number
}
