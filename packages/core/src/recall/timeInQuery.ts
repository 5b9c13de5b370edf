/**
 * Reads times in the words of a query, without a model: "last week", "in March", "gestern Abend", "上周", a date, a range. English,
 * German, French, Spanish and Chinese.
 */
import { type Calendar, type CalendarDay, calendarOf, type TimeSpan } from "./TimeSpan.js"

/** A query without its words of time, and the span that they name. */
export interface TimedQuery {
  readonly words: string
  readonly span: TimeSpan
}

type Unit = "day" | "week" | "month" | "year"

/** The words of a language for times. Each is a regular expression; the lists follow the calendar. */
interface Language {
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  /** Before or behind a unit. */
  readonly last: string
  readonly current: string
  readonly units: Readonly<Record<Unit, string>>
  /** `N` and `U` stand for a number and a unit. */
  readonly ago: string
  readonly numbers: ReadonlyArray<string>
  readonly months: ReadonlyArray<string>
  /** What stands before a month that is meant as a time: `in` tells a month from a name. */
  readonly inMonth: string
  /** From Sunday on. */
  readonly weekdays: ReadonlyArray<string>
  /** Morning, afternoon, evening, night. */
  readonly parts: readonly [string, string, string, string]
  readonly lastNight: string
  /** Between the two ends of a range. */
  readonly to: string
  /** Words that belong to a time, and say nothing without it. */
  readonly around: string
}

const english: Language = {
  today: "today",
  yesterday: "yesterday",
  dayBefore: "(?:the )?day before yesterday",
  last: "last|past|previous",
  current: "this",
  units: { day: "days?", week: "weeks?", month: "months?", year: "years?" },
  ago: "N U ago",
  numbers: ["an?|one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
  months: [
    "jan(?:uary)?",
    "feb(?:ruary)?",
    "mar(?:ch)?",
    "apr(?:il)?",
    "may",
    "june?",
    "july?",
    "aug(?:ust)?",
    "sept?(?:ember)?",
    "oct(?:ober)?",
    "nov(?:ember)?",
    "dec(?:ember)?",
  ],
  inMonth: "in|during|of|last|this|early|late|mid",
  weekdays: [
    "sun(?:day)?",
    "mon(?:day)?",
    "tue(?:sday)?",
    "wed(?:nesday)?",
    "thu(?:rsday)?",
    "fri(?:day)?",
    "sat(?:urday)?",
  ],
  parts: ["morning", "afternoon", "evening", "night"],
  lastNight: "last night",
  to: "and|to|till|until",
  around: "on|in|from|between|the|during|of",
}

const german: Language = {
  today: "heute",
  yesterday: "gestern",
  dayBefore: "vorgestern",
  last: "letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?",
  current: "diese[nrsm]?",
  units: { day: "tage?n?", week: "wochen?", month: "monate?n?s?", year: "jahre?n?s?" },
  ago: "vor N U",
  numbers: ["eine[mnr]?", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"],
  months: [
    "jan(?:uar|ner)?",
    "feb(?:ruar)?",
    "märz",
    "apr(?:il)?",
    "mai",
    "juni?",
    "juli?",
    "aug(?:ust)?",
    "sept?(?:ember)?",
    "okt(?:ober)?",
    "nov(?:ember)?",
    "dez(?:ember)?",
  ],
  inMonth: "im|letzten|diesen|anfang|ende|mitte",
  weekdays: ["sonntag", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag"],
  parts: ["morgen|früh|vormittag", "nachmittag", "abend", "nacht"],
  lastNight: "letzte nacht",
  to: "und|bis|bis zum",
  around: "am|im|in|von|vom|zwischen|der|den|dem",
}

const french: Language = {
  today: "aujourd['’]hui",
  yesterday: "hier",
  dayBefore: "avant-hier",
  last: "derni(?:er|ère)|passée?",
  current: "cette|ce|cet",
  units: { day: "jours?", week: "semaines?", month: "mois", year: "années?|ans?" },
  ago: "il y a N U",
  numbers: ["une?", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"],
  months: [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
  ],
  inMonth: "en|au mois de|au mois d['’]|début|fin",
  weekdays: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
  parts: ["matin", "après-midi", "soir", "nuit"],
  lastNight: "la nuit dernière",
  to: "et|à|au|jusqu['’]au",
  around: "le|la|en|du|de|entre|au|l['’]",
}

const spanish: Language = {
  today: "hoy",
  yesterday: "ayer",
  dayBefore: "anteayer|antes de ayer",
  last: "pasad[oa]|últim[oa]",
  current: "est[ea]",
  units: { day: "días?", week: "semanas?", month: "mes(?:es)?", year: "años?" },
  ago: "hace N U",
  numbers: ["una?", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"],
  months: [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
  ],
  inMonth: "en|de|a principios de|a finales de",
  weekdays: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
  parts: ["por la mañana", "por la tarde", "por la noche", "de madrugada"],
  lastNight: "anoche",
  to: "y|al?|hasta",
  around: "el|la|en|de|del|entre|desde",
}

const languages: ReadonlyArray<Language> = [english, german, french, spanish]

/** The hours of the parts of a day; a night ends in the morning. */
const hours: ReadonlyArray<readonly [from: number, to: number]> = [
  [5, 12],
  [12, 18],
  [17, 24],
  [20, 30],
]

/** A time that a query names, and where. */
interface TimeMention {
  readonly at: number
  readonly length: number
  readonly span: TimeSpan
}

/** A rule: an expression, and the span of a match; `null` for a match that is no time. */
interface Rule {
  readonly expression: RegExp
  readonly span: (times: Times, groups: Readonly<Record<string, string | undefined>>) => TimeSpan | null
}

const any = (words: ReadonlyArray<string>): string => `(?:${words.join("|")})`
const positionIn = (words: ReadonlyArray<string>, word: string): number =>
  words.findIndex((one) => new RegExp(`^(?:${one})$`, "iu").test(word))

/** An expression that begins and ends at the bounds of words. */
const words = (source: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, "giu")

class Times {
  private readonly today: CalendarDay & { readonly weekday: number }

  constructor(
    private readonly calendar: Calendar,
    private readonly now: number,
  ) {
    this.today = calendar.dayOf(now)
  }

  days(from: CalendarDay, count = 1): TimeSpan {
    return this.calendar.span(from, { ...from, day: from.day + count })
  }
  daysAgo(days: number): CalendarDay {
    return { ...this.today, day: this.today.day - days }
  }
  part(from: CalendarDay, part: number): TimeSpan {
    const [start, end] = hours[part] ?? [0, 24]
    return this.calendar.span({ ...from, hour: start }, { ...from, hour: end })
  }
  /** The unit that is so many units ago: 0 for the current one. */
  unit(unit: Unit, ago: number): TimeSpan {
    const { year, month, day, weekday } = this.today
    if (unit === "day") return this.days({ year, month, day: day - ago })
    if (unit === "week") return this.days({ year, month, day: day - ((weekday + 6) % 7) - 7 * ago }, 7)
    if (unit === "month") return this.month(year, month - ago)
    return this.year(year - ago)
  }
  month(year: number, month: number): TimeSpan {
    return this.calendar.span({ year, month, day: 1 }, { year, month: month + 1, day: 1 })
  }
  year(year: number): TimeSpan {
    return this.calendar.span({ year, month: 0, day: 1 }, { year: year + 1, month: 0, day: 1 })
  }
  /** The newest month or day of this name that has begun. */
  newestMonth(month: number): TimeSpan {
    const { year } = this.today
    const span = this.month(year, month)
    return span.from > this.now ? this.month(year - 1, month) : span
  }
  date(year: number | null, month: number, day: number): TimeSpan | null {
    if (month < 0 || month > 11 || day < 1 || day > 31) return null
    const span = this.days({ year: year ?? this.today.year, month, day })
    return year === null && span.from > this.now ? this.days({ year: this.today.year - 1, month, day }) : span
  }
  /** The newest such day of the week before today. */
  weekday(weekday: number): CalendarDay {
    return this.daysAgo(((this.today.weekday - weekday + 6) % 7) + 1)
  }
}

const yearOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text))

const rulesOf = (language: Language): ReadonlyArray<Rule> => {
  const { units, numbers, months, parts } = language
  const unit = any(Object.values(units))
  const month = `(?<month>${any(months)})\\.?`
  const year = "(?<year>(?:19|20)\\d\\d)"
  const part = `(?<part>${any(parts)})`
  const unitOf = (text = ""): Unit =>
    (Object.keys(units) as ReadonlyArray<Unit>).find((one) =>
      new RegExp(`^(?:${units[one]})$`, "iu").test(text),
    ) ?? "day"
  const countOf = (text = ""): number => (/^\d+$/.test(text) ? Number(text) : positionIn(numbers, text) + 1)
  const monthOf = (text = ""): number => positionIn(months, text)
  const dayOr = (times: Times, day: CalendarDay, text: string | undefined): TimeSpan =>
    text === undefined ? times.days(day) : times.part(day, positionIn(parts, text))
  const ofDay = `(?: (?:in the |am |in der |au |de |du )?${part})?`
  const number = `(?<count>\\d{1,3}|${any(numbers)})`
  return [
    { expression: words(language.lastNight), span: (times) => times.part(times.daysAgo(1), 3) },
    {
      expression: words(`(?:${language.dayBefore})${ofDay}`),
      span: (times, found) => dayOr(times, times.daysAgo(2), found["part"]),
    },
    {
      expression: words(`(?:${language.yesterday})${ofDay}`),
      span: (times, found) => dayOr(times, times.daysAgo(1), found["part"]),
    },
    {
      expression: words(`(?:${language.today})${ofDay}`),
      span: (times, found) => dayOr(times, times.daysAgo(0), found["part"]),
    },
    {
      expression: words(`(?:${language.current}) ${part}`),
      span: (times, found) => dayOr(times, times.daysAgo(0), found["part"]),
    },
    {
      expression: words(language.ago.replace("N", number).replace("U", `(?<unit>${unit})`)),
      span: (times, { count, unit }) => times.unit(unitOf(unit), countOf(count)),
    },
    {
      expression: words(`(?:${language.last}) (?<unit>${unit})|(?<other>${unit}) (?:${language.last})`),
      span: (times, { unit, other }) => times.unit(unitOf(unit ?? other), 1),
    },
    {
      expression: words(`(?:${language.current}) (?<unit>${unit})`),
      span: (times, { unit }) => times.unit(unitOf(unit), 0),
    },
    {
      expression: words(
        `(?<day>\\d{1,2})(?:\\.|st|nd|rd|th|er)? (?:of |de )?${month}(?:,? (?:de |del )?${year})?`,
      ),
      span: (times, { day, month, year }) => times.date(yearOf(year), monthOf(month), Number(day)),
    },
    {
      expression: words(`${month} (?<day>\\d{1,2})(?:st|nd|rd|th)?(?:,? ${year})?`),
      span: (times, { day, month, year }) => times.date(yearOf(year), monthOf(month), Number(day)),
    },
    {
      expression: words(`${month},? (?:de |del )?${year}`),
      span: (times, { month, year }) => times.month(Number(year), monthOf(month)),
    },
    {
      expression: words(`(?:${language.inMonth}) ?${month}`),
      span: (times, { month }) => times.newestMonth(monthOf(month)),
    },
    {
      expression: words(
        `(?:(?:${language.last}) )?(?<weekday>${any(language.weekdays)})(?: (?:${language.last}))?${ofDay}`,
      ),
      span: (times, { weekday, part }) =>
        dayOr(times, times.weekday(positionIn(language.weekdays, weekday ?? "")), part),
    },
    {
      expression: words(`(?:in|im jahr|en|en l['’]an) ${year}`),
      span: (times, { year }) => times.year(Number(year)),
    },
  ]
}

const chineseNumbers = "一二三四五六七八九十"
const chineseNumber = (text = ""): number => {
  if (/^\d+$/.test(text)) return Number(text)
  const digits = text.replace("两", "二")
  const [tens, ones] = digits.includes("十") ? digits.split("十") : ["", digits]
  const value = (one = ""): number => chineseNumbers.indexOf(one) + 1
  return digits.includes("十")
    ? (tens === "" ? 1 : value(tens)) * 10 + (ones === "" ? 0 : value(ones))
    : value(ones)
}

const chineseRules = (): ReadonlyArray<Rule> => {
  const number = "\\d{1,3}|[一二两三四五六七八九十]{1,3}"
  const parts = ["早上|上午|早晨|清晨", "下午|中午", "晚上|傍晚", "夜里|半夜|深夜"]
  const part = `(?<part>${any(parts)})?的?`
  const week = "(?:周|週|星期|礼拜|禮拜)"
  const units: ReadonlyArray<readonly [Unit, string]> = [
    ["day", "天|日"],
    ["week", "(?:个|個)?(?:星期|礼拜|禮拜)|周|週"],
    ["month", "(?:个|個)?月"],
    ["year", "年"],
  ]
  const unitOf = (text = ""): Unit =>
    units.find(([, one]) => new RegExp(`^(?:${one})$`, "u").test(text))?.[0] ?? "day"
  const unit = any(units.map(([, one]) => one))
  const dayOr = (times: Times, day: CalendarDay, text: string | undefined): TimeSpan =>
    text === undefined ? times.days(day) : times.part(day, positionIn(parts, text))
  const rule = (source: string, span: Rule["span"]): Rule => ({ expression: new RegExp(source, "gu"), span })
  return [
    rule(`今[天日]${part}`, (times, { part }) => dayOr(times, times.daysAgo(0), part)),
    rule(`昨[天日]${part}`, (times, { part }) => dayOr(times, times.daysAgo(1), part)),
    rule("昨晚", (times) => times.part(times.daysAgo(1), 2)),
    rule(`前[天日]${part}`, (times, { part }) => dayOr(times, times.daysAgo(2), part)),
    rule(`(?<count>${number})(?<unit>${unit})(?:之|以)?前`, (times, { count, unit }) =>
      times.unit(unitOf(unit), chineseNumber(count)),
    ),
    rule(`上(?:个|個)?${week}(?<weekday>[一二三四五六日天])`, (times, { weekday = "" }) =>
      times.days(times.weekday("日一二三四五六".indexOf(weekday.replace("天", "日")))),
    ),
    rule(`上(?:个|個)?${week}`, (times) => times.unit("week", 1)),
    rule("上(?:个|個)?月", (times) => times.unit("month", 1)),
    rule("去年", (times) => times.unit("year", 1)),
    rule(`(?:本|这|這)(?:个|個)?${week}`, (times) => times.unit("week", 0)),
    rule("(?:本|这个|這個|这|這)月", (times) => times.unit("month", 0)),
    rule("今年", (times) => times.unit("year", 0)),
    rule(
      `(?:(?<year>\\d{4})年)?(?<month>${number})月(?<day>${number})[日号號]`,
      (times, { year, month, day }) => times.date(yearOf(year), chineseNumber(month) - 1, chineseNumber(day)),
    ),
    rule(`(?<year>\\d{4})年(?<month>${number})月`, (times, { year, month }) =>
      times.month(Number(year), chineseNumber(month) - 1),
    ),
    rule(`(?<!\\d)(?<month>${number})月`, (times, { month }) => times.newestMonth(chineseNumber(month) - 1)),
    rule("(?<year>(?:19|20)\\d\\d)年", (times, { year }) => times.year(Number(year))),
  ]
}

const dates: ReadonlyArray<Rule> = [
  {
    expression: words("(?<year>(?:19|20)\\d\\d)-(?<month>\\d{1,2})-(?<day>\\d{1,2})"),
    span: (times, { year, month, day }) => times.date(Number(year), Number(month) - 1, Number(day)),
  },
  {
    expression: words("(?<day>\\d{1,2})\\.\\s?(?<month>\\d{1,2})\\.\\s?(?<year>(?:19|20)\\d\\d)"),
    span: (times, { year, month, day }) => times.date(Number(year), Number(month) - 1, Number(day)),
  },
  {
    expression: words("(?<year>(?:19|20)\\d\\d)-(?<month>\\d{1,2})"),
    span: (times, { year, month }) => times.month(Number(year), Number(month) - 1),
  },
]

/** What may stand between the ends of a range, or around a time, in any language. */
const between = new RegExp(
  `^\\s*(?:${any(languages.map(({ to }) => to))}|[-–—到至和])\\s*(?:${any(languages.map(({ around }) => around))}\\s+)?$`,
  "iu",
)
const before = new RegExp(`(?<![\\p{L}])(?:${any(languages.map(({ around }) => around))})\\s*$`, "iu")

const rules: ReadonlyArray<Rule> = [...dates, ...languages.flatMap(rulesOf), ...chineseRules()]

/** The times that the rules find; where several fit, the longest one. A step is one rule. */
function* timesIn(query: string, times: () => Times): Generator<undefined, ReadonlyArray<TimeMention>> {
  const all: Array<TimeMention> = []
  for (const { expression, span } of rules) {
    for (const match of query.matchAll(expression)) {
      const found = span(times(), match.groups ?? {})
      if (found !== null) all.push({ at: match.index, length: match[0].length, span: found })
    }
    yield
  }
  const taken: Array<TimeMention> = []
  for (const one of all.toSorted((first, other) => other.length - first.length))
    if (taken.every(({ at, length }) => one.at + one.length <= at || at + length <= one.at)) taken.push(one)
  return taken.toSorted((one, other) => one.at - other.at)
}

/** A time is looked for in this many UTF-16 code units of a query: who pastes a document asks for no time. */
const mostSearched = 2_000

/**
 * Reads the time in a query, in steps. Of several times that are no range, the first one counts.
 *
 * @param query - what is searched for
 * @param now - the time of asking, in milliseconds since the epoch; a date without a year is the newest one that has begun
 * @param timeZone - the time zone of whoever asks, by its IANA name
 * @returns the words without the time, and the span; `null` if the query has none
 *
 * @example
 * timeInQuery("Which order was late last week?", Date.UTC(2026, 4, 13), "UTC") // "Which order was late ?", 4 to 10 May
 */
export function* timeInQuery(
  query: string,
  now: number,
  timeZone: string,
): Generator<undefined, TimedQuery | null> {
  const searched = query.slice(0, mostSearched)
  let known: Times | null = null
  // The first calendar of a process takes as long as a search to make, and most queries name no time.
  const times = (): Times => (known ??= new Times(calendarOf(timeZone), now))
  const [first, second] = yield* timesIn(searched, times)
  if (first === undefined) return null
  const start = query.slice(0, first.at).replace(before, "")
  const isRange = second !== undefined && between.test(query.slice(first.at + first.length, second.at))
  const last = isRange ? second : first
  return {
    words: `${start.trimEnd()} ${query.slice(last.at + last.length).trimStart()}`.trim(),
    span: { from: Math.min(first.span.from, last.span.from), to: Math.max(first.span.to, last.span.to) },
  }
}
