/**
 * Settings of fast-check for mutants: the same runs each time, and only the first ones, because properties fail early
 * for most mutants that they notice. A counterexample is enough: it need not be the smallest.
 */
export const PROPERTY_SETTINGS = { seed: 1, endOnFailure: true, interruptAfterTimeLimit: 1500 }
