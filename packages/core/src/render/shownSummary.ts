/** A summary as a context shows it. */
import type { Message } from "@memfold/message/Message"
import { isBelow, lowest, type Origin } from "@memfold/message/Origin"
import type { SessionState } from "../session/SessionState.js"
import { noFiles, shownSegments } from "../summary/Summary.js"
import * as Wording from "../summary/Wording.js"
import type { Section } from "./Section.js"

type Summary = NonNullable<SessionState["summary"]>

/**
 * The summary as messages: none if it has no text, as with summary mode `drop`; more than one if its wording is
 * `separate`. If its history has provider data, an opaque part replaces the text of the history for that provider; what
 * else the message says follows in a text of its own. For everyone else the texts are one (see `Message.partsFor`).
 */
export const summaryMessages = (
  summary: Pick<Summary, "segments" | "shown" | "files" | "wording">,
): ReadonlyArray<Message> => {
  const { wording, files } = summary
  const { role } = wording
  const segments = shownSegments(summary)
  const messages = Wording.written(wording, { segments, files }).map(({ text, material }): Message => ({
    role: material ? "user" : role,
    parts: [{ type: "text", text }],
  }))
  const [first] = segments
  const { providerData } = first ?? {}
  if (first === undefined || providerData === undefined) return messages
  const [text = ""] = Wording.texts(wording, { segments, files })
  const { provider, model, data } = providerData
  const history = wording.heading + first.text
  const alone = text === history + (wording.footer ?? "")
  const parts: Message["parts"] = [
    { type: "text", text: alone ? text : history },
    { type: "opaque", provider, data, replaces: "text-before", ...(model === undefined ? {} : { model }) },
    ...(alone ? [] : [{ type: "text" as const, text: text.slice(history.length) }]),
  ]
  return [{ role, parts }, ...messages.slice(1)]
}

/** The positions of segments and the lists of files of a summary that a context shows, and the positions that it leaves out. */
const shownOf = ({ segments, shown, origins, files }: Summary, minimum: Origin | undefined) => {
  const positions = segments.map((_, position) => position).filter((one) => shown?.includes(one) ?? true)
  const isLow = (one: number) => minimum !== undefined && isBelow(origins[one] ?? "external", minimum)
  const lowFiles = minimum !== undefined && isBelow("tool", minimum)
  return {
    shown: positions.filter((one) => !isLow(one)),
    low: positions.filter(isLow),
    files: lowFiles ? noFiles : files,
  }
}

interface SummaryShown {
  readonly messages: ReadonlyArray<Message>
  readonly sections: ReadonlyArray<Section>
}

/** All contexts until the next compaction show a summary as it was written once: with many blocks, that is most of their work. */
const summariesShown = new WeakMap<Summary, Map<Origin | undefined, SummaryShown>>()

export const summarySections = (summary: Summary, minimum: Origin | undefined): SummaryShown => {
  const known = summariesShown.get(summary) ?? new Map<Origin | undefined, SummaryShown>()
  const found = known.get(minimum) ?? shownSummary(summary, minimum)
  summariesShown.set(summary, known.set(minimum, found))
  return found
}

/** A summary as a context shows it, with the sections that it takes. The names of files are whatever tools say. */
const shownSummary = (summary: Summary, minimum: Origin | undefined): SummaryShown => {
  const { segments, origins, wording, coveredTo, tokens } = summary
  const { shown, low, files } = shownOf(summary, minimum)
  const isMaterial = (one: number) => segments[one]?.kind === "material"
  const messages = summaryMessages({ segments, wording, shown, files })
  const written = Wording.written(wording, { segments: shown.map((one) => segments[one]!), files })
  // How the tokens of the whole are divided: as the lengths of the texts are.
  const whole = Wording.written(wording, { segments: shownSegments(summary), files: summary.files })
  const lengthOf = (texts: typeof whole) =>
    texts
      .flatMap(({ pieces }) => pieces)
      .reduce((sum, { before, text, behind }) => sum + before.length + text.length + behind.length, 0)
  const share = (texts: typeof whole) =>
    texts.length === 0 ? 0 : Math.round((tokens * lengthOf(texts)) / Math.max(lengthOf(whole), 1))
  const apart = written.filter(({ material }) => material)
  const ofMaterial = share(apart)
  const all = written.length === 0 ? 0 : low.length === 0 ? tokens : share(written)
  const listed = files.read.length + files.modified.length > 0 ? (["tool"] as const) : []
  const [ofSummary, ofApart] = [shown.filter((one) => !isMaterial(one)), shown.filter(isMaterial)].map(
    (positions, material) =>
      lowest([
        ...positions.map((one) => origins[one] ?? "external"),
        ...((wording.material !== undefined) === (material === 1) ? listed : []),
      ]),
  )
  const range = ofApart === undefined ? [] : shown.filter(isMaterial).map((one) => segments[one]!)
  return {
    messages,
    sections: [
      {
        section: "summary",
        from: 0,
        to: coveredTo,
        tokens: all - ofMaterial,
        ...(ofSummary === undefined ? {} : { origin: ofSummary }),
      },
      ...(ofApart === undefined
        ? []
        : [
            {
              section: "material" as const,
              from: range[0]?.from ?? 0,
              to: range.at(-1)?.to ?? coveredTo,
              tokens: ofMaterial,
              origin: ofApart,
            },
          ]),
      ...low.map((one): Section => ({
        section: "left-out",
        from: segments[one]!.from,
        to: segments[one]!.to,
        tokens: 0,
        parts: [isMaterial(one) ? "material" : "summary"],
        origin: origins[one] ?? "external",
      })),
    ],
  }
}
