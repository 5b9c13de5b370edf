/** The failures of a server in words: the reason, what to do about it, and whether waiting may help. */

import { damagedKinds } from "./scriptParts.js"

/** A reason that contains nothing of what was sent: neither secrets nor messages. */
export interface Failure {
  readonly reason: string
  /** Whether it may pass by itself: a failover, a restart, a lost connection. */
  readonly passing: boolean
  /** The name that Redis, Node or the client gives it. */
  readonly code: string
}

const start = "start it, or check the address and the network"
const retryLater = "try again when it has settled"

/** Reasons that may pass, by the codes of Redis and Node and the client's names. Each follows the server's name. */
const passing: Readonly<Record<string, string>> = {
  ECONNREFUSED: `refuses connections; ${start}`,
  ECONNRESET: `closed the connection; ${start}`,
  EPIPE: `closed the connection; ${start}`,
  CLOSED: `closed the connection; ${start}`,
  UNREACHABLE: `cannot be reached; ${start}`,
  EHOSTUNREACH: `cannot be reached; ${start}`,
  ENETUNREACH: `cannot be reached; ${start}`,
  ENOTFOUND: `has a name that is not known; ${start}`,
  EAI_AGAIN: `has a name that is not known; ${start}`,
  ETIMEDOUT: `does not answer; ${start}`,
  TIMEOUT: `does not answer in time; ${start}`,
  LOADING: `is still loading its data; ${retryLater}`,
  BUSY: `is busy with another program's script; ${retryLater}`,
  UNKILLABLE: `is busy with another program's script; ${retryLater}`,
  MASTERDOWN: `is a replica that has lost its master; ${retryLater}`,
  CLUSTERDOWN: `does not serve this part of its data: a master is down and no replica has taken over; ${retryLater}`,
  TRYAGAIN: `is moving this session to another server; ${retryLater}`,
  ASK: `is moving this session to another server; ${retryLater}`,
  MOVED: `has moved this session to another server; ${retryLater}`,
  SENTINEL: `is not known to any sentinel that answers; ${retryLater}`,
  READONLY: "is a replica, and takes no writes; name its master, a cluster, or sentinels",
  NOREPLICAS: "takes no writes, since too few replicas follow it (min-replicas-to-write); bring them back",
}

/** Reasons that do not pass by themselves. */
const lasting: Readonly<Record<string, string>> = {
  OOM: "has no memory left; raise maxmemory, or delete sessions",
  MISCONF: "takes no writes, since it cannot save to its disk; make room there and look at its log",
  NOAUTH: "wants a password; name one",
  WRONGPASS: "does not know this user with this password; check both",
  NOPERM: "does not allow this user to do it; grant the commands and keys that the README lists",
  WRONGTYPE: "has something else at a key of this session; choose another prefix",
  [damagedKinds]:
    "has a damaged list of the kinds of this session's rows; write the list (a JSON array) to the field `kinds` of the session's key `meta`, or restore it from a backup",
  NODATABASE: "has no database of that number; choose a lower number (`databases` in its settings)",
  INCLUSTER: "is one server of a cluster; name it as one (`cluster`, or ?cluster=true in the URL)",
  NOCLUSTER: "is no cluster; leave out `cluster`",
  NOTLS: "cannot be reached by TLS; check its certificate, or whether it speaks TLS at all",
}

/** The codes of failures that the client or Redis describes in words only. */
const inWords: ReadonlyArray<readonly [words: RegExp, code: string]> = [
  [/sentinels? (are|is) unreachable/i, "SENTINEL"],
  [/timed? ?out/i, "TIMEOUT"],
  [/invalid password|invalid username-password/, "WRONGPASS"],
  [/DB index is out of range|SELECT is not allowed/, "NODATABASE"],
  [/cluster support disabled/, "NOCLUSTER"],
  [
    /isn't writeable|isn't ready|Failed to refresh slots|None of startup nodes|max retries per request|is ended/,
    "UNREACHABLE",
  ],
  [
    /[Cc]onnection (is|was) (closed|aborted|discarded)|aborted due to connection close|disconnect|[Ss]ocket closed/,
    "CLOSED",
  ],
]

const isKnown = (code: string): boolean => Object.hasOwn(passing, code) || Object.hasOwn(lasting, code)

const messageOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error)

/** After too many redirections the client's error contains the last answer, which is the reason. */
const lastAnswer = (text: string): string =>
  /^Too many Cluster redirections\. Last error: \w+: (.*)$/s.exec(text)?.[1] ?? text

/** The code of an error; for an error without a known code, the start of its message. */
const codeOf = (error: unknown): string => {
  const text = lastAnswer(messageOf(error))
  const named = typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(named)) return "NOTLS"
  if (isKnown(named)) return named
  const [first = ""] = text.split(" ")
  if (isKnown(first)) return first
  const found = inWords.find(([words]) => words.test(text))
  if (found !== undefined) return found[1]
  // Redis repeats what it was sent in some of its other errors.
  const [line = ""] = text.replace(/,? with args beginning with.*$/s, "").split("\n")
  return line.slice(0, 200)
}

/** Whether the server does not have a script yet: it has to be sent in full. */
export const isNoScript = (error: unknown): boolean => lastAnswer(messageOf(error)).startsWith("NOSCRIPT")

/** An error in words. `where` names the server, without secrets. */
export const describe = (error: unknown, where: string): Failure => {
  const code = codeOf(error)
  if (!isKnown(code)) return { reason: `${where} said: ${code}`, passing: false, code: "ERR" }
  const passes = Object.hasOwn(passing, code)
  return { reason: `${where} ${(passes ? passing : lasting)[code]}`, passing: passes, code }
}

/** Whether the user may not use a command, or a service has removed it. */
export const isForbidden = (error: unknown): boolean => ["NOPERM", "ERR"].includes(describe(error, "").code)

/** The answer of a command, or `null` if it is not allowed. */
export const ifAllowed = <A>(asked: Promise<A>): Promise<A | null> =>
  asked.catch((error: unknown) => {
    if (isForbidden(error)) return null
    throw error
  })

/** The error to pass on as a cause: its name, without the command that it answers. */
export const bare = (error: unknown): Error =>
  Object.assign(new Error(codeOf(error)), {
    name: error instanceof Error ? error.name : "Error",
    stack: undefined,
  })
