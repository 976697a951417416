/** The modules that decide, by the name that `npm run mutate -- <name>` takes. */
export const DECISION_MODULES: Readonly<Record<string, readonly string[]>> = {
  conditions: [
    'shared/domain/criteria/check-condition.ts',
    'shared/domain/criteria/check-leaf.ts',
    'shared/domain/criteria/condition-findings.ts',
    'shared/domain/criteria/evaluation-order.ts',
  ],
  evaluation: [
    'shared/domain/criteria/evaluation.ts',
    'shared/domain/criteria/rarest-first.ts',
    'shared/domain/criteria/row-codes.ts',
    'shared/domain/criteria/row-test.ts',
  ],
  leaves: [
    'shared/domain/criteria/leaf-test.ts',
    'shared/domain/criteria/leaf-verdicts.ts',
    'shared/domain/criteria/text-test.ts',
  ],
  'sync-plan': [
    'shared/domain/sync/plan-sync.ts',
    'shared/domain/sync/job-progress.ts',
    'shared/domain/sync/changes-decision.ts',
  ],
  'removal-guard': ['shared/domain/sync/removal-guard.ts', 'shared/domain/group-links/removal-window.ts'],
  leases: [
    'shared/kernel/lease.ts',
    'shared/domain/group-links/link-lease.ts',
    'shared/domain/group-links/job-transitions.ts',
  ],
  requests: ['shared/domain/membership-requests/decide-request.ts'],
  joining: [
    'shared/domain/connectors/identity-resolver.ts',
    'shared/domain/connectors/identity-index.ts',
    'shared/domain/connectors/arrivals.ts',
    'shared/domain/connectors/carriers.ts',
    'shared/domain/connectors/join-keys.ts',
    'shared/domain/connectors/own-core-objects.ts',
    'shared/domain/connectors/replaced-identities.ts',
  ],
  people: ['shared/domain/connectors/group-by-person.ts', 'shared/domain/connectors/told-apart.ts'],
  dispatch: ['shared/http/dispatch.ts', 'shared/http/match-route.ts'],
  tokens: ['shared/auth/token-verifier.ts', 'shared/auth/caller-admission.ts'],
  cursors: ['shared/http/paging.ts', 'shared/http/signed-texts.ts'],
  idempotency: ['shared/domain/idempotency/run-once.ts'],
  events: [
    'shared/domain/events/change-events.ts',
    'shared/domain/events/member-events.ts',
    'shared/domain/events/event-types.ts',
    'shared/domain/events/delivery.ts',
    'shared/domain/events/subscription.ts',
  ],
  'connector-health': ['shared/domain/connectors/connector-health.ts', 'shared/domain/events/connector-events.ts'],
  receivers: ['shared/webhooks/event-targets.ts', 'shared/webhooks/public-addresses.ts'],
  mails: [
    'shared/domain/mail/mailbox.ts',
    'shared/domain/mail/request-letters.ts',
    'shared/domain/mail/operator-letters.ts',
    'shared/domain/mail/letter-address.ts',
    'shared/domain/mail/render-mail.ts',
  ],
  pauses: ['shared/domain/group-links/removal-pause.ts', 'shared/domain/group-links/former-link.ts'],
  ends: [
    'shared/domain/membership-requests/ends.ts',
    'shared/domain/membership-requests/extension.ts',
    'shared/domain/membership-requests/reminders.ts',
  ],
  proofs: [
    'shared/domain/criteria/proofs/prove-condition.ts',
    'shared/domain/criteria/proofs/constancy.ts',
    'shared/domain/criteria/proofs/possible-results.ts',
    'shared/domain/criteria/proofs/text-results.ts',
    'shared/domain/criteria/proofs/equivalent-conditions.ts',
  ],
}

/** Mutants that behave like the original, with the reason. */
export type EquivalentMutants = {
  readonly file: string
  readonly reason: string
  /** The text of a line, and changes of it as they are printed. */
  readonly lines: readonly (readonly [source: string, ...changes: string[]])[]
}

export const EQUIVALENT_MUTANTS: readonly EquivalentMutants[] = [
  {
    file: 'shared/domain/criteria/check-condition.ts',
    reason: 'Once the most faults are found, no other is reported: it only ends sooner.',
    lines: [['return findings.leafCount > MAX_LEAF_COUNT || findings.faults.length >= MAX_FAULT_COUNT', '>= → >']],
  },
  {
    file: 'shared/domain/criteria/evaluation-order.ts',
    reason: 'Nothing refers to the entry behind the last one.',
    lines: [['for (let index = 0; index < order.length; index += 1) {', '< → <=']],
  },
  {
    file: 'shared/domain/criteria/evaluation.ts',
    reason:
      'Rows one by one and in columns, with cached results and without, are the same. It decides which is faster.',
    lines: [
      ['const SPARSE_SHARE = 1 / 32', '/ → *', '1 → 2', '32 → 33'],
      ['const OBJECTS_PER_ROW_COUNT = 8', '8 → 9'],
      ['const COLLECTIONS_CACHED_COUNT = 64', '64 → 65'],
      [
        'return inSteps ? yield* this.#holdsAtTask(root, objectType, slot) : this.#holdsAt(root, objectType, slot)',
        'inSteps → true',
      ],
      [
        'if (inSteps ? yield* this.#holdsAtTask(root, type, row) : this.#holdsAt(root, type, row)) return true',
        'inSteps → true',
      ],
      [
        "if (node.kind === 'leaf' && this.#isByCodes(node, mask)) return yield* this.#matchingByCodes(node, objectType, mask)",
        "node.kind === 'leaf' && this.#isByCodes(node, mask) → false",
      ],
      [
        'return !verdicts.holdsWithoutValue && (untestedCount === 0 || !hasFewerBits(mask, untestedCount))',
        ...['|| → &&', '=== → !==', '0 → 1', '!hasFewerBits(mask, untestedCount) → hasFewerBits(mask, untestedCount)'],
      ],
      [
        'const isOfFewRows = hasFewerBits(mask, this.#snapshot.tables[reads].slotCount / OBJECTS_PER_ROW_COUNT)',
        '/ → *',
      ],
      [
        "if (isOfFewRows && node.kind === 'leaf' && this.#isByCodes(node, mask)) {",
        "isOfFewRows && node.kind === 'leaf' && this.#isByCodes(node, mask) → false",
      ],
      [
        'if (column.valueCount === 0) return negative ? mask.slice() : new Int32Array(mask.length)',
        'column.valueCount === 0 → false',
      ],
      ['if (link === undefined) return slotsWithCodes(column, codes, negative, mask)', 'link === undefined → true'],
      ['this.#memberSlots = known', 'this.#memberSlots = known → ;'],
      [
        'if (hasFewerBits(mask, mask.length * 32 * SPARSE_SHARE)) return yield* this.#matchingFew(node, objectType, mask)',
        ...['hasFewerBits(mask, mask.length * 32 * SPARSE_SHARE) → true', '* → /', '32 → 33'],
        'hasFewerBits(mask, mask.length * 32 * SPARSE_SHARE) → false',
      ],
      [
        'if (this.#shared === undefined || readsMembers(node)) return yield* this.#matchingMany(node, objectType, mask)',
        'this.#shared === undefined || readsMembers(node) → true',
      ],
      ['this.#shared = shared', 'this.#shared = shared → ;'],
      ['this.#shared.set(node, objectType, all)', 'this.#shared.set(node, objectType, all) → ;'],
      [
        'if (known.size >= COLLECTIONS_CACHED_COUNT) known.clear()',
        ...['known.size >= COLLECTIONS_CACHED_COUNT → true', 'known.size >= COLLECTIONS_CACHED_COUNT → false'],
        ...['>= → >', '>= → <', 'known.clear() → ;'],
      ],
      ['known.set(members, slots)', 'known.set(members, slots) → ;'],
    ],
  },
  {
    file: 'shared/domain/criteria/evaluation.ts',
    reason: 'Nothing refers to relationships: there is no row to begin with, and none is read.',
    lines: [
      [
        "const referrers = objectType === 'relationship' ? undefined : this.#snapshot.referrers[objectType]",
        "objectType === 'relationship' → false",
      ],
      ['let row = referrers?.first(slot) ?? 0', '0 → 1'],
    ],
  },
  {
    file: 'shared/domain/criteria/rarest-first.ts',
    reason: 'A leaf that comes first has a share of a quarter at most, so that any larger number is behind it.',
    lines: [['return share !== undefined && share <= RARE_SHARE ? share : 1', '1 → 2']],
  },
  {
    file: 'shared/domain/criteria/row-codes.ts',
    reason: 'More room than needed, and values looked up for each row or once for all of them.',
    lines: [
      ['const codeOf = codeReader({ column, place }, objectType, mask.length * 32, snapshot)', '32 → 33'],
      ['const codeOf = field && codeReader(field, objectType, mask.length * 32, snapshot)', '32 → 33'],
      ['const otherCodeOf = codeReader(operand, objectType, mask.length * 32, snapshot)', '32 → 33'],
    ],
  },
  {
    file: 'shared/domain/criteria/proofs/prove-condition.ts',
    reason: 'A leaf implies itself and equals itself, which makes nothing superfluous: it only ends sooner.',
    lines: [
      ['if (leaves.length < 2) continue', 'leaves.length < 2 → false', 'continue → ;'],
      ['if (results === undefined || results.size === 1 << leaves.length) continue', '1 → 2'],
      ['if (other === index) return false', 'other === index → false'],
      ['return follows && (!isEqual || other < index)', '< → <='],
    ],
  },
  {
    file: 'shared/domain/criteria/proofs/constancy.ts',
    reason:
      'A group without a range has no place, keys are only cached, and a typed array keeps nothing behind its end.',
    lines: [
      ['const place = isAtom(node) ? places.get(keyOf(node)) : undefined', 'isAtom(node) → true'],
      ['keys.set(node, key)', 'keys.set(node, key) → ;'],
      [
        'else for (const child of node.children) if (atoms.size <= LEAVES_AT_ONCE_COUNT) atomsOf(child, atoms)',
        'atoms.size <= LEAVES_AT_ONCE_COUNT → true',
      ],
      [
        'for (let index = 0; index < masks.length; index += 1) bits[index] = ((masks[index] as number) >>> place) & 1',
        '< → <=',
      ],
      [
        'for (let index = 0; index < length; index += 1) counts[index] = (counts[index] as number) + (table[index] as number)',
        '< → <=',
      ],
      ['for (let index = 0; index < length; index += 1) {', '< → <='],
    ],
  },
  {
    file: 'shared/domain/criteria/proofs/possible-results.ts',
    reason:
      'Between two named values, either neighbour is enough; other points and days have results that some have already.',
    lines: [
      ['const points = new Set(named.flatMap((value) => [value - 1, value, value + 1]))', '1 → 2'],
      ['return new Set([...(points.size === 0 ? [0] : points)].map(onValue))', '0 → 1'],
      ['const isToday = leaves.some(readsToday)', 'some → every'],
      ['const relativeDays = [...new Set([...addedDays, ...(isToday ? [0] : [])])]', 'isToday → true'],
      [
        'for (const todayMs of relativeDays.length === 0 ? [0] : daysAround(fixedMs, relativeDays, zone)) {',
        ...['relativeDays.length === 0 → false', '0 → 1'],
      ],
      [
        'return new Set((days.length === 0 ? [0] : days).flatMap((day) => [zone.addDays(day, -1), day, zone.addDays(day, 1)]))',
        ...['0 → 1', '1 → 2'],
      ],
      ['const [first = 0, last = 0] = [sorted[0], sorted.at(-1)]', '0 → 1'],
    ],
  },
  {
    file: 'shared/domain/criteria/leaf-test.ts',
    reason: 'The other case gives the same result. It is the longer way, or one that the type of the leaf excludes.',
    lines: [
      ['if (leaf.functions.length === 0) {', 'leaf.functions.length === 0 → false'],
      // Only days are relative to the day of evaluation, and only `AddDays` applies to them.
      [
        "return functions.reduce((sum, call) => sum + (call.name === 'AddDays' ? call.days : 0), 0)",
        "call.name === 'AddDays' → true",
      ],
      // No list contains the element 0, and a dictionary with one code has no texts.
      ['let elementCount = 0', '0 → 1'],
      ['if (elementNow() !== 0) values.addListsWith(element, range, holding)', 'elementNow() !== 0 → true'],
    ],
  },
  {
    file: 'shared/domain/criteria/leaf-verdicts.ts',
    reason: 'The other case is the longer way to the same result.',
    lines: [
      ["this.#missing = test.kind === 'listed' ? test.texts : []", "test.kind === 'listed' → true"],
      [
        'if (this.#progress.decidedCount !== this.#values.size) runToCompletion(this.holding(todayMs))',
        'this.#progress.decidedCount !== this.#values.size → true',
      ],
      ["if (test.kind !== 'scan') return progress.holding", "test.kind !== 'scan' → false"],
      [
        'if (test.addHolding !== undefined) test.addHolding([progress.decidedCount, end], progress.holding)',
        'test.addHolding !== undefined → false',
      ],
      ['if (this.#missing.length === 0) return', 'this.#missing.length === 0 → false'],
    ],
  },
  {
    file: 'shared/domain/criteria/text-test.ts',
    reason: 'A border behind the last byte is not kept, and the short way for the first byte only saves time.',
    lines: [
      ['for (let at = 1; at < bytes.length; at += 1) {', '< → <='],
      ['if (matched === 0) {', 'matched === 0 → false'],
    ],
  },
  {
    file: 'shared/http/match-route.ts',
    reason: 'No path fits two shapes with literals and parameters in the same places.',
    lines: [['return 0', '0 → 1']],
  },
  {
    file: 'shared/http/signed-texts.ts',
    reason: 'A text of 32 bytes is empty, and no empty text is signed.',
    lines: [
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the line
        "const isExact = signed === `${prefix}${bytes.toString('base64url')}` && bytes.length > MAC_BYTES",
        '> → >=',
      ],
    ],
  },
]
