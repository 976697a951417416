/** Runs of the properties about people in `npm test`. `npm run soak:people` does 5,000. */
const RUNS_COUNT = 300

/** The number of runs and the seed, from `PEOPLE_RUNS` and `PEOPLE_SEED`. A failing property prints its seed. */
export function propertyRuns(): { readonly runs: number; readonly seed: number | undefined } {
  const { PEOPLE_RUNS: runs, PEOPLE_SEED: seed } = process.env
  return { runs: runs === undefined ? RUNS_COUNT : Number(runs), seed: seed === undefined ? undefined : Number(seed) }
}
