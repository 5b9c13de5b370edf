/** Spans of time: the days of a calendar, in a time zone. */

/** A span of time, in milliseconds since the epoch: `from` is in it, `to` is not. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** A day of the calendar; the month counts from 0, and a day or a month may run over. */
export interface CalendarDay {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** What a calendar says about times in one time zone. */
export interface Calendar {
  /** The day of a time, and its day of the week, 0 for Sunday. */
  readonly dayOf: (time: number) => CalendarDay & { readonly weekday: number }
  /** From the start of a day, plus hours, to the start of another one, plus hours. */
  readonly span: (
    from: CalendarDay & { readonly hour?: number },
    to: CalendarDay & { readonly hour?: number },
  ) => TimeSpan
}

/**
 * The calendar of a time zone.
 *
 * @param timeZone - a name of the IANA database, such as `Europe/Vienna`; throws a `RangeError` for an unknown one
 */
export const calendarOf = (timeZone: string): Calendar => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  })
  /** The time that a clock on the wall shows, as if it were UTC. */
  const wallOf = (time: number): number => {
    const fields = Object.fromEntries(
      format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  /** The time at which the clock on the wall shows this. Twice, because the first guess may be on the other side of a change. */
  const timeAt = (wall: number): number => {
    const guess = wall - (wallOf(wall) - wall)
    return wall - (wallOf(guess) - guess)
  }
  const startOf = ({ year, month, day, hour = 0 }: CalendarDay & { readonly hour?: number }): number =>
    timeAt(Date.UTC(year, month, day, hour))
  return {
    dayOf: (time) => {
      const wall = new Date(wallOf(time))
      return {
        year: wall.getUTCFullYear(),
        month: wall.getUTCMonth(),
        day: wall.getUTCDate(),
        weekday: wall.getUTCDay(),
      }
    },
    span: (from, to) => ({ from: startOf(from), to: startOf(to) }),
  }
}
