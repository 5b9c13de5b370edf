/**
 * Reads times in the words of a query, without a model: "last week", "in March", "gestern Abend", "上周", a date, a range. English,
 * German, French, Spanish and Chinese. A language is a table of words; the patterns are the same for all that separate their words.
 */
import { type Calendar, type CalendarDay, calendarOf, type TimeSpan } from "./TimeSpan.js"

export interface TimedQuery {
  readonly words: string
  readonly span: TimeSpan
}

/**
 * The words that have a place in a pattern, by the name of that place: regular expressions between commas. Units are day, week, month and
 * year; counts begin with one, weekdays with Sunday; parts of a day are morning, afternoon, evening and night.
 */
type Lists = Readonly<Record<"unit" | "count" | "month" | "weekday" | "part", string>>

interface Language extends Lists {
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  readonly lastNight: string
  /** Before or behind a unit. */
  readonly last: string
  readonly current: string
  readonly ago: string
  /** What stands before a month that is meant as a time: `in` tells a month from a name. */
  readonly inMonth: string
  /** Between the two ends of a range. */
  readonly to: string
  /** Words that belong to a time, and say nothing without it. */
  readonly around: string
}

const english: Language = {
  today: "today",
  yesterday: "yesterday",
  dayBefore: "(?:the )?day before yesterday",
  lastNight: "last night",
  last: "last|past|previous",
  current: "this",
  ago: "{count} {unit} ago",
  inMonth: "in|during|of|last|this|early|late|mid",
  to: "and|to|till|until",
  around: "on|in|from|between|the|during|of",
  unit: "days?, weeks?, months?, years?",
  count: "an?|one, two, three, four, five, six, seven, eight, nine, ten",
  month:
    "jan(?:uary)?, feb(?:ruary)?, mar(?:ch)?, apr(?:il)?, may, june?, july?, aug(?:ust)?, sept?(?:ember)?, oct(?:ober)?, nov(?:ember)?, dec(?:ember)?",
  weekday:
    "sun(?:day)?, mon(?:day)?, tue(?:sday)?, wed(?:nesday)?, thu(?:rsday)?, fri(?:day)?, sat(?:urday)?",
  part: "morning, afternoon, evening, night",
}

const german: Language = {
  today: "heut(?:e|ige[nrsm]?)",
  yesterday: "gestern|gestrige[nrsm]?",
  dayBefore: "vorgestern",
  lastNight: "letzte nacht",
  last: "letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?",
  current: "diese[nrsm]?",
  ago: "vor {count} {unit}",
  inMonth: "im|letzten|diesen|anfang|ende|mitte",
  to: "und|bis|bis zum",
  around: "am|im|in|von|vom|zwischen|der|den|dem",
  unit: "tage?n?, wochen?, monate?n?s?, jahre?n?s?",
  count: "eine[mnr]?, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn",
  month:
    "jan(?:uar|ner)?, feb(?:ruar)?, märz, apr(?:il)?, mai, juni?, juli?, aug(?:ust)?, sept?(?:ember)?, okt(?:ober)?, nov(?:ember)?, dez(?:ember)?",
  weekday: "sonntag, montag, dienstag, mittwoch, donnerstag, freitag, samstag",
  part: "morgen|früh|vormittag, nachmittag, abend, nacht",
}

const french: Language = {
  today: "aujourd['’]hui",
  yesterday: "hier",
  dayBefore: "avant-hier",
  lastNight: "la nuit dernière",
  last: "derni(?:er|ère)|passée?",
  current: "cette|ce|cet",
  ago: "il y a {count} {unit}",
  inMonth: "en|au mois de|au mois d['’]|début|fin",
  to: "et|à|au|jusqu['’]au",
  around: "le|la|en|du|de|entre|au|l['’]",
  unit: "jours?, semaines?, mois, années?|ans?",
  count: "une?, deux, trois, quatre, cinq, six, sept, huit, neuf, dix",
  month: "janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre",
  weekday: "dimanche, lundi, mardi, mercredi, jeudi, vendredi, samedi",
  part: "matin, après-midi, soir, nuit",
}

const spanish: Language = {
  today: "hoy",
  yesterday: "ayer",
  dayBefore: "anteayer|antes de ayer",
  lastNight: "anoche",
  last: "pasad[oa]|últim[oa]",
  current: "est[ea]",
  ago: "hace {count} {unit}",
  inMonth: "en|de|a principios de|a finales de",
  to: "y|al?|hasta",
  around: "el|la|en|de|del|entre|desde",
  unit: "días?, semanas?, mes(?:es)?, años?",
  count: "una?, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez",
  month:
    "enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre",
  weekday: "domingo, lunes, martes, miércoles, jueves, viernes, sábado",
  part: "por la mañana, por la tarde, por la noche, de madrugada",
}

const languages: ReadonlyArray<Language> = [english, german, french, spanish]

const digits: Lists = { unit: "", count: "", month: "\\d{1,2}", weekday: "", part: "" }

const chineseNumbers = "\\d{1,3}|[一二两三四五六七八九十]{1,3}"
const chinese: Lists = {
  unit: "天|日, (?:个|個)?(?:星期|礼拜|禮拜)|周|週, (?:个|個)?月, 年",
  count: "[一二两三四五六七八九十]{1,3}",
  month: chineseNumbers,
  weekday: "[日天], 一, 二, 三, 四, 五, 六",
  part: "早上|上午|早晨|清晨, 下午|中午, 晚上|傍晚, 夜里|半夜|深夜",
}
const chineseWeek = "(?:个|個)?(?:周|週|星期|礼拜|禮拜)"

/** What a pattern names: numbers of the calendar, from 0 on; how many units or days ago; and a part of a day. */
type Named = Partial<Record<keyof Lists | "year" | "day", number>>

/** A pattern with places such as `{month}`, and what it names besides what stands there. */
type Pattern = readonly [pattern: string, named?: Named]

/** The hours of the parts of a day; a night ends in the morning. */
const hours: ReadonlyArray<readonly [from: number, to: number]> = [
  [5, 12],
  [12, 18],
  [17, 24],
  [20, 30],
]

interface TimeMention {
  readonly at: number
  readonly length: number
  readonly span: TimeSpan
}

/** A rule: an expression, and what a match of it names. */
interface Rule {
  readonly expression: RegExp
  readonly named: (groups: Readonly<Record<string, string | undefined>>) => Named
}

/** Reads spans of time on a calendar, as of now. */
const spansOf = (calendar: Calendar, now: number) => {
  const today = calendar.dayOf(now)
  const days = (from: CalendarDay, count = 1) => calendar.span(from, { ...from, day: from.day + count })
  const daysAgo = (count: number): CalendarDay => ({ ...today, day: today.day - count })
  const inYear = (year: number, month: number, day?: number): TimeSpan =>
    day === undefined
      ? calendar.span({ year, month, day: 1 }, { year, month: month + 1, day: 1 })
      : days({ year, month, day })

  /** The span of what is named; `null` if it is no time. Without a year, it is the newest one that has begun. */
  const spanOf = ({ unit, count = 0, year, month, day, weekday, part }: Named): TimeSpan | null => {
    if (month !== undefined) {
      if (day !== undefined && (month < 0 || month > 11 || day < 1 || day > 31)) return null
      const span = inYear(year ?? today.year, month, day)
      return year === undefined && span.from > now ? inYear(today.year - 1, month, day) : span
    }
    if (year !== undefined)
      return calendar.span({ year, month: 0, day: 1 }, { year: year + 1, month: 0, day: 1 })
    if (unit === 3) return spanOf({ year: today.year - count })
    if (unit === 2) return inYear(today.year, today.month - count)
    if (unit === 1) return days(daysAgo(((today.weekday + 6) % 7) + 7 * count), 7)
    // A weekday is the newest one before today.
    const of = daysAgo(weekday === undefined ? count : ((today.weekday - weekday + 6) % 7) + 1)
    const [start, end] = hours[part ?? -1] ?? [0, 24]
    return calendar.span({ ...of, hour: start }, { ...of, hour: end })
  }
  return spanOf
}

const anyOf = (list: string): string => `(?:${list.replaceAll(", ", "|")})`

/** A number in digits or in Chinese. */
const numberIn = (text: string): number => {
  if (/^\d+$/.test(text)) return Number(text)
  const valueOf = (digit: string): number => "一二三四五六七八九".indexOf(digit.replace("两", "二")) + 1
  const [tens = "", ones] = text.split("十")
  return ones === undefined
    ? valueOf(tens)
    : (tens === "" ? 1 : valueOf(tens)) * 10 + (ones === "" ? 0 : valueOf(ones))
}

/** Makes rules of patterns. `bound` puts an expression within its bounds. */
const rulesOf = (lists: Lists, bound: (source: string) => string, patterns: ReadonlyArray<Pattern>) => {
  const places = {
    ...lists,
    count: `\\d{1,3}, ${lists.count}`,
    day: lists === chinese ? chineseNumbers : "\\d{1,2}",
    year: "(?:19|20)\\d\\d",
  }
  const valueOf = (place: string, text: string): number => {
    const words = place in lists ? lists[place as keyof Lists].split(", ") : []
    const at = words.length < 2 ? -1 : words.findIndex((one) => new RegExp(`^(?:${one})$`, "iu").test(text))
    if (at === -1) return numberIn(text) - (place === "month" ? 1 : 0)
    return place === "count" ? at + 1 : at
  }
  return patterns.map(([pattern, also]): Rule => ({
    expression: new RegExp(
      bound(
        pattern.replace(
          /\{(\w+)\}/g,
          (_, place: keyof typeof places) => `(?<${place}>${anyOf(places[place])})`,
        ),
      ),
      "giu",
    ),
    named: (groups) => ({
      ...also,
      ...Object.fromEntries(
        Object.entries(groups).flatMap(([place, text]) =>
          text === undefined ? [] : [[place, valueOf(place, text)]],
        ),
      ),
    }),
  }))
}

/** Within the bounds of words. */
const asWords = (source: string): string => `(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`

/** The patterns of a language that separates its words. */
const patternsOf = (language: Language): ReadonlyArray<Pattern> => {
  const { today, yesterday, dayBefore, last, current, inMonth } = language
  const ofDay = "(?: (?:in the |am |in der |au |de |du )?{part})?"
  return [
    [language.lastNight, { count: 1, part: 3 }],
    [`(?:${dayBefore})${ofDay}`, { count: 2 }],
    [`(?:${yesterday})${ofDay}`, { count: 1 }],
    [`(?:${today})${ofDay}`],
    [`(?:${current}) {part}`],
    [language.ago],
    [`(?:${last}) {unit}`, { count: 1 }],
    [`{unit} (?:${last})`, { count: 1 }],
    [`(?:${current}) {unit}`],
    ["{day}(?:\\.|st|nd|rd|th|er)? (?:of |de )?{month}\\.?(?:,? (?:de |del )?{year})?"],
    ["{month}\\.? {day}(?:st|nd|rd|th)?(?:,? {year})?"],
    ["{month}\\.?,? (?:de |del )?{year}"],
    [`(?:${inMonth}) ?{month}\\.?`],
    [`(?:(?:${last}) )?{weekday}(?: (?:${last}))?${ofDay}`],
    ["(?:in|im jahr|en|en l['’]an) {year}"],
  ]
}

const chinesePatterns: ReadonlyArray<Pattern> = [
  ["今[天日]{part}?的?"],
  ["昨[天日]{part}?的?", { count: 1 }],
  ["昨晚", { count: 1, part: 2 }],
  ["前[天日]{part}?的?", { count: 2 }],
  ["{count}{unit}(?:之|以)?前"],
  [`上${chineseWeek}{weekday}`],
  [`上${chineseWeek}`, { unit: 1, count: 1 }],
  ["上(?:个|個)?月", { unit: 2, count: 1 }],
  ["去年", { unit: 3, count: 1 }],
  [`(?:本|这|這)${chineseWeek}`, { unit: 1 }],
  ["(?:本|这个|這個|这|這)月", { unit: 2 }],
  ["今年", { unit: 3 }],
  ["(?:{year}年)?{month}月{day}[日号號]"],
  ["{year}年{month}月"],
  ["(?<!\\d){month}月"],
  ["{year}年"],
]

/** What is in a text wherever one of the patterns of a language fits: most texts name no time, and are asked for this alone. */
const sharedBy = (language: Language): RegExp => {
  const { lastNight, dayBefore, yesterday, today } = language
  const lists = (["part", "unit", "month", "weekday"] as const).map((place) => anyOf(language[place]))
  const words = [lastNight, dayBefore, yesterday, today, ...lists, "(?:19|20)\\d\\d"]
  return new RegExp(`(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "iu")
}

/** The rules, with what is in a text wherever one of them fits. */
const allRules = (): ReadonlyArray<readonly [shared: RegExp, rules: ReadonlyArray<Rule>]> => [
  [
    /\d/,
    rulesOf(digits, asWords, [
      ["{year}-{month}-{day}"],
      ["{day}\\.\\s?{month}\\.\\s?{year}"],
      ["{year}-{month}"],
    ]),
  ],
  ...languages.map(
    (language) => [sharedBy(language), rulesOf(language, asWords, patternsOf(language))] as const,
  ),
  [/\p{sc=Han}/u, rulesOf(chinese, (source) => source, chinesePatterns)],
]

/** The first query of a process makes them: their expressions would be a twelfth of what an import of memfold takes. */
let rules: ReturnType<typeof allRules> | undefined

/** What may stand between the ends of a range, or around a time, in any language. */
const around = languages.map((language) => language.around).join("|")
const between = new RegExp(
  `^\\s*(?:${languages.map(({ to }) => to).join("|")}|[-–—到至和])\\s*(?:(?:${around})\\s+)?$`,
  "iu",
)
const before = new RegExp(`(?<![\\p{L}])(?:${around})\\s*$`, "iu")

/** The times that the rules find; where several fit, the longest one. A step is one rule. */
function* timesIn(
  query: string,
  spanOf: (named: Named) => TimeSpan | null,
): Generator<undefined, ReadonlyArray<TimeMention>> {
  const all: Array<TimeMention> = []
  for (const [shared, ofLanguage] of (rules ??= allRules())) {
    if (!shared.test(query)) continue
    for (const { expression, named } of ofLanguage) {
      for (const match of query.matchAll(expression)) {
        const span = spanOf(named(match.groups ?? {}))
        if (span !== null) all.push({ at: match.index, length: match[0].length, span })
      }
      yield
    }
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
  let known: ReturnType<typeof spansOf> | null = null
  // The first calendar of a process takes as long as a search to make, and most queries name no time.
  const spanOf = (named: Named) => (known ??= spansOf(calendarOf(timeZone), now))(named)
  const [first, second] = yield* timesIn(searched, spanOf)
  if (first === undefined) return null
  const start = query.slice(0, first.at).replace(before, "")
  const isRange = second !== undefined && between.test(query.slice(first.at + first.length, second.at))
  const last = isRange ? second : first
  return {
    words: `${start.trimEnd()} ${query.slice(last.at + last.length).trimStart()}`.trim(),
    span: { from: Math.min(first.span.from, last.span.from), to: Math.max(first.span.to, last.span.to) },
  }
}
