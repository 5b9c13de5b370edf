/** A log that nobody closes keeps no process from its end, and a request keeps it until it is answered. */
import { expect, it } from "vitest"
import { bundled, start } from "@memfold/harness/children"
import type { Options } from "../src/index.js"
import { eventually, servers } from "@memfold/harness/redisServers"
import { tenant } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["unclosed"])
const { server, cluster } = servers()
const ends = async (options: Options, ...more: ReadonlyArray<string>) => {
  const child = start(script("unclosed"), JSON.stringify(options), ...more)
  let lines: ReadonlyArray<string> | undefined
  void child.end().then((all) => (lines = all))
  await eventually("the process ends by itself", async () => lines !== undefined)
  expect(lines).toEqual(["appended 1", "exit 0"])
}

it("of a server, closed or not", async () => {
  const { url } = await server()
  await ends({ url, prefix: tenant() })
  await ends({ url, prefix: tenant() }, "close")
})

it("of a cluster, closed or not", async () => {
  const { addresses } = await cluster()
  await ends({ cluster: addresses, prefix: tenant() })
  await ends({ cluster: addresses, prefix: tenant() }, "close")
})
