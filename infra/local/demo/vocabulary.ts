// Vocabulary of the fictional municipalities. All people and places are invented.

const words = (text: string): readonly string[] => text.split(/\s+/)

export const FIRST_NAMES = words(
  `Åse Øyvind Ærlend Sæmund Zoë Jürgen Máret Niillas Ánde Björg Sólveig Þóra Kari Ola Ingrid Lars Nora Emil Sofie Jakob
   Ida Håkon Maja Oskar Sigrid Torbjørn Linnéa Gustav Astrid Mikkel Freja Aksel Runa Eivind Tuva Sander Ylva Henrik
   Signe Magnus Amina Yusuf Leila Oleksandr Agnieszka Mateusz Hodan Samuel`,
)

export const LAST_NAMES = words(
  `Bjørkås Dalåker Ekelund Fjellvær Granmo Haugsæter Iversvik Jøsendal Kvålsmo Lundåsen Myrbråten Nordbø Ødegårdsli
   Pedersnes Rødvik Skjærholt Tveitåsen Ulvestad-Moe Vågsnes Åkerøy Østhagen Sætermo Bækkelund Grønnåsen Strømsvik
   Løvåsmyr Hällström Sjölander Väisänen-Lie O'Dalaigh Nguyễn-Berg Kowalczyk-Ruud Þorleifsson Gáttimo Solbakksæter
   Engvollen`,
)

export type DepartmentWords = {
  readonly name: string
  /** Name of a unit, followed by the name of a place, and its sub-type. */
  readonly unit: string
  readonly unitSubType: string
  readonly titles: readonly string[]
}

export const DEPARTMENTS: readonly [DepartmentWords, ...DepartmentWords[]] = [
  {
    name: 'Education',
    unit: 'School',
    unitSubType: 'PrimarySchool',
    titles: ['Teacher', 'Teacher', 'Teacher', 'Assistant', 'Special Educator', 'Librarian', 'Caretaker'],
  },
  {
    name: 'Health and Care',
    unit: 'Nursing Home',
    unitSubType: 'NursingHome',
    titles: ['Nurse', 'Nurse', 'Health Care Worker', 'Health Care Worker', 'Physiotherapist', 'Physician', 'Cook'],
  },
  {
    name: 'Kindergartens',
    unit: 'Kindergarten',
    unitSubType: 'Kindergarten',
    titles: ['Kindergarten Teacher', 'Assistant', 'Child and Youth Worker'],
  },
  {
    name: 'Technical Services',
    unit: 'Works Depot',
    unitSubType: 'Operations',
    titles: ['Engineer', 'Electrician', 'Plumber', 'Driver', 'Firefighter', 'Planner'],
  },
  {
    name: 'Culture and Leisure',
    unit: 'Culture House',
    unitSubType: 'Culture',
    titles: ['Librarian', 'Music Teacher', 'Event Coordinator', 'Lifeguard'],
  },
  {
    name: 'Administration',
    unit: 'Service Office',
    unitSubType: 'Office',
    titles: ['Adviser', 'Accountant', 'Payroll Officer', 'Archivist', 'Lawyer', 'HR Adviser'],
  },
]

export const PLACES = words(
  `Bjørkelia Fjordgløtt Solvang Åsmyra Nordøya Elvebakken Tårnhøyden Kråkerøysund Granåsen Havnegata Myrvoll Østmarka
   Sjøbrinken Skogstien Vårsol Lyngheim`,
)

export const COUNTRY_CODES = words('NO NO NO NO NO NO NO SE DK PL')

/** Fictional license SKUs. */
export const LICENSES = ['00000000-0000-4000-8000-0000000e3e3e', '00000000-0000-4000-8000-0000000f1f1f'] as const

export const MUNICIPALITIES = [
  { name: 'Nordvåg', domain: 'nordvag.example' },
  { name: 'Sørdal', domain: 'sordal.example' },
] as const
