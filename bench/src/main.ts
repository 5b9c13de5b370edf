/** `npm run bench [-- NAME…]`: the named benchmarks, or all of them. */
import { backlog } from "./backlog.js"
import { databases } from "./databases.js"
import { fairness } from "./fairness.js"
import { firstContext } from "./first.js"
import { history } from "./history.js"
import { hostile } from "./hostile.js"
import { inLanguages } from "./languages/index.js"
import { load } from "./load/index.js"
import { manySessions } from "./manySessions.js"
import { moving } from "./moving.js"
import { neighbours } from "./neighbours/index.js"
import { publishedByMeaning, publishedNumbers } from "./published.js"
import { proxy } from "./proxy/index.js"
import { remember } from "./remember/index.js"
import { scale } from "./scale.js"
import { search } from "./search.js"
import { service } from "./serve/index.js"
import { movingUnderLoad } from "./shards.js"
import { stampede } from "./stampede.js"
import { stores } from "./stores.js"
import { studio } from "./studio/index.js"
import { turn } from "./turn/index.js"
import { waiting } from "./waiting.js"

const benchmarks: ReadonlyMap<string, () => Promise<boolean>> = new Map([
  ["turn", () => turn()],
  ["history", () => history(2)],
  ["backlog", () => backlog(2)],
  ["stores", () => stores()],
  ["serve", () => service()],
  ["hostile", () => hostile()],
  ["studio", () => studio()],
  ["waiting", () => waiting()],
  ["fairness", () => fairness()],
  ["remember", () => remember()],
  ["search", () => search()],
  ["languages", () => inLanguages()],
  ["proxy", () => proxy()],
  ["published", () => publishedNumbers()],
])

// These take minutes, arguments of their own or the network, and run only when they are named first.
const [first, ...rest] = process.argv.slice(2)
const withArguments = new Map<string, (args: ReadonlyArray<string>) => Promise<boolean>>([
  ["databases", databases],
  ["first", () => firstContext()],
  ["load", load],
  ["meaning", publishedByMeaning],
  ["moving", moving],
  ["neighbours", neighbours],
  ["scale", scale],
  ["search", search],
  ["serve", service],
  ["sessions", manySessions],
  ["shards", movingUnderLoad],
  ["stampede", stampede],
  ["studio", studio],
]).get(first ?? "")
// Other names behind "serve", "search" and "studio" are benchmarks, and their options begin with dashes.
if (withArguments !== undefined && !rest.some((one) => benchmarks.has(one)))
  process.exit((await withArguments(rest)) ? 0 : 1)

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !benchmarks.has(name))
if (unknown !== undefined) {
  process.stderr.write(
    `memfold: there is no benchmark "${unknown}"; there are: ${[...benchmarks.keys()].join(", ")}\n`,
  )
  process.exit(2)
}
const outcomes = []
for (const [name, run] of benchmarks)
  if (asked.length === 0 || asked.includes(name)) outcomes.push(await run())
if (outcomes.includes(false)) process.exitCode = 1
