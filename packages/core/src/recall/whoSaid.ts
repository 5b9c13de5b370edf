/**
 * Who said what is searched for: a question can name a speaker ("Where did Ann live?"), or mean a role ("What did you
 * recommend?", "What did I say about it?"). Messages of that speaker count for more.
 */
import type { Message } from "@memfold/message/Message"
import { asks, isQuestion, saidAs, saidBy } from "../search/marks.js"
import { usefulTermsOf } from "../search/terms.js"
import { beginsWithAQuestion } from "./emptyWords.js"

/** Only so much of a query is read for it, in UTF-16 code units. */
const mostRead = 4_000

/** Questions for what the assistant said, in the languages whose words for times are read. */
const ofAssistant = [
  /(?<!\p{L})(?:did|have|had|were|would) you(?!\p{L})/iu,
  /(?<!\p{L})you (?:said|told|gave|wrote|listed|offered|proposed|explained|mentioned|suggested|recommended|advised|answered)(?!\p{L})/iu,
  /(?<!\p{L})your (?:answers?|advice|suggestions?|recommendations?|proposals?)(?!\p{L})/iu,
  /(?<!\p{L})(?:hast|hattest|würdest) du(?!\p{L})|(?<!\p{L})(?:haben|hatten|würden) Sie(?!\p{L})|(?<!\p{L})du mir(?!\p{L})/u,
  /(?<!\p{L})(?:as-tu|avez-vous|avais-tu|aviez-vous|tu (?:m['’])?as|vous (?:m['’])?avez)(?!\p{L})/iu,
  /(?<!\p{L})(?:dijiste|recomendaste|sugeriste|mencionaste|aconsejaste|propusiste|explicaste|me has|has dicho)(?!\p{L})/iu,
  /[你您](?:们|們)?(?:曾经|曾經|之前|上次|刚才|剛才)?(?:给我|給我|跟我)?(?:说|說|告诉|告訴|推荐|推薦|建议|建議|提到|提过|提過)/u,
]

/** Questions for what the user said. */
const ofUser = [
  /(?<!\p{L})(?:did|have|had|was) I(?!\p{L})|(?<!\p{L})I (?:said|told|asked|mentioned|wrote)(?!\p{L})/u,
  /(?<!\p{L})the user (?:said|told|asked|mentioned|wants?|has)(?!\p{L})|(?<!\p{L})did the user(?!\p{L})/iu,
  /(?<!\p{L})(?:habe?|hatte|bin) ich(?!\p{L})|(?<!\p{L})ich (?:habe?|hatte)(?!\p{L})/iu,
  /(?<!\p{L})(?:ai-je|avais-je|j['’]ai|j['’]avais)(?!\p{L})/iu,
  /(?<!\p{L})(?:dije|mencioné|conté|pregunté|escribí|he (?:dicho|mencionado|contado|preguntado))(?!\p{L})/iu,
  /我(?:曾经|曾經|之前|上次|刚才|剛才)?(?:跟你|给你|給你)?(?:说|說|告诉|告訴|提到|提过|提過|问过|問過)/u,
]

const roleIn = (query: string): "assistant" | "user" | null => {
  const start = query.slice(0, mostRead)
  if (ofAssistant.some((pattern) => pattern.test(start))) return "assistant"
  return ofUser.some((pattern) => pattern.test(start)) ? "user" : null
}

/** Whether a message may need what was said long ago: it asks something, or refers to what somebody said. */
export const asksForThePast = (message: string): boolean =>
  isQuestion(message) || beginsWithAQuestion(message) || roleIn(message) !== null

/** The marks of the speakers that a query may mean. Whether somebody has a name of the query, the index says. */
export const speakersIn = (query: string, terms: ReadonlyArray<string>): ReadonlyArray<string> => {
  const role = roleIn(query)
  return [...(role === null ? [] : [saidAs(role)]), ...terms.map(saidBy)]
}

/** What the index notes of a message beside its terms: its role, the terms of its author's name, and whether it asks. */
export const marksOf = ({ role, name }: Message, text: string): ReadonlyArray<string> => [
  saidAs(role),
  ...new Set(usefulTermsOf(name ?? "").map(saidBy)),
  ...(isQuestion(text) ? [asks] : []),
]
