/** A rule as another product's documentation writes it, and the same rule as a condition. */
export type ConditionExample = {
  readonly meaning: string
  /** The rule in the other product's language; undefined when it has none for it. */
  readonly elsewhere?: { readonly product: string; readonly rule: string }
  readonly condition: object
}

const UNIT = '3c8e1d52-6a0f-4b7e-9d21-5f0a8b3c7e10'
const MANAGER = '7d1f4a90-2b6c-4e35-8a17-c94e60b2d8f3'
const [CHOIR, BOARD] = ['a1b2c3d4-0000-4000-8000-000000000001', 'a1b2c3d4-0000-4000-8000-000000000002']

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({
  id,
  field,
  operator,
  ...(value === undefined ? {} : { value }),
})
const all = (...conditions: object[]) => ({ groupOperator: 'AND', conditions })
const any = (...conditions: object[]) => ({ groupOperator: 'OR', conditions })
const none = (...conditions: object[]) => ({ groupOperator: 'NOT', conditions })

export const CONDITION_EXAMPLES: readonly ConditionExample[] = [
  {
    meaning: 'Everybody in Sales, whatever the case of the letters',
    elsewhere: { product: 'Microsoft Entra', rule: 'user.department -eq "Sales"' },
    condition: all(leaf('orgUnitDisplayName', 'Equals', 'SALES', 'ToUpper(orgUnitDisplayName)')),
  },
  {
    meaning: 'Nurses, except at test units',
    elsewhere: {
      product: 'Microsoft Entra',
      rule: '(user.jobTitle -startsWith "Nurse") -and -not (user.department -contains "Test")',
    },
    condition: all(
      leaf('relationshipTitle', 'StartsWith', 'Nurse'),
      none(leaf('orgUnitDisplayName', 'Contains', 'Test')),
    ),
  },
  {
    meaning: 'People who were hired within the last 30 days',
    elsewhere: { product: 'Microsoft Entra', rule: 'user.employeeHireDate -ge system.now -minus p30d' },
    condition: all(leaf('relationshipStartDate', 'GreaterThanOrEqual', 'AddDays(Today(),-30)')),
  },
  {
    meaning: 'The direct reports of one manager',
    elsewhere: { product: 'Microsoft Entra', rule: `Direct Reports for "${MANAGER}"` },
    condition: all(leaf('relationshipManager', 'Equals', MANAGER)),
  },
  {
    meaning: 'One unit and all units below it',
    condition: all(leaf('orgUnitWithAncestors', 'Contains', UNIT)),
  },
  {
    meaning: 'All managers',
    condition: all(leaf('identityHasReports', 'Equals', true)),
  },
  {
    meaning: 'The manager of the own unit',
    condition: all(leaf('orgUnitManager', 'Equals', { attribute: 'identityId' })),
  },
  {
    meaning: 'Members of one of two other collections',
    elsewhere: { product: 'Okta', rule: `isMemberOfAnyGroup("${CHOIR}", "${BOARD}")` },
    condition: all(leaf('memberOfCollection', 'In', [CHOIR, BOARD])),
  },
  {
    meaning: 'People with an engineering title in Oslo or Bergen',
    elsewhere: {
      product: 'Okta',
      rule: 'String.stringContains(user.title, "Engineer") AND (user.city == "Oslo" OR user.city == "Bergen")',
    },
    condition: all(
      leaf('relationshipTitle', 'Contains', 'Engineer'),
      leaf('relationshipOfficeLocation', 'In', ['Oslo', 'Bergen']),
    ),
  },
  {
    meaning: 'One position with both this title and this unit: the rows of a person are not mixed',
    elsewhere: {
      product: 'Google Cloud Identity',
      rule: "user.organizations.exists(org, org.title == 'Cook' && org.department == 'Kitchen')",
    },
    condition: all(leaf('relationshipTitle', 'Equals', 'Cook'), leaf('orgUnitDisplayName', 'Equals', 'Kitchen')),
  },
  {
    meaning: 'People without an employee position, also if they have other positions',
    condition: all(none({ ...all(leaf('relationshipType', 'Equals', 'Employee')), over: 'AnyPosition' })),
  },
  {
    meaning: 'People with a position that has not ended, and with an e-mail address',
    elsewhere: { product: 'SailPoint', rule: 'lifecycleState eq "active" and email is not null' },
    condition: all(leaf('relationshipIsActive', 'Equals', true), none(leaf('identityEmail', 'IsNull'))),
  },
  {
    meaning: 'Grade 9 and above, with one of two courses: attributes of one’s own, of type Integer and StringList',
    condition: all(
      leaf('identityCustom/grade', 'GreaterThanOrEqual', 9),
      leaf('identityCustom/courses', 'ContainsAny', ['First aid', 'Fire safety']),
    ),
  },
  {
    meaning: 'One of several types',
    elsewhere: { product: 'SailPoint', rule: 'employeeType in ("Intern", "Trainee")' },
    condition: any(leaf('relationshipType', 'Equals', 'Intern'), leaf('relationshipType', 'Equals', 'Trainee')),
  },
]
