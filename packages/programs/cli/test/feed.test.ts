/** The feed of all sessions, as the command line prints it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { environment, inFolder, lines, program } from "@memfold/harness/program"

const { folder, memfold } = inFolder("feed")
const store = `sqlite:${join(folder, "chats.db")}`

const said = (content: string) => ({ role: "user" as const, content })

it("memfold feed prints all events, goes on behind a position, and follows what others append", async () => {
  const memory = await createMemory({ store })
  await memory.append("one", said("a"))
  await memory.append("two", said("b"))
  await memory.append("one", said("c"))
  const all = await memfold("feed", "--store", store, "--json")
  const events = lines(all.out)
  expect(events.map(({ session, version }) => `${session} ${version}`)).toEqual(["one 1", "one 2", "two 1"])
  const after = String(events[1]!["position"])
  const rest = await memfold("feed", "--store", store, "--after", after)
  expect(rest.out.trimEnd().split("\n")).toHaveLength(1)
  expect(rest.out).toMatch(/two {2}1 {2}message appended/)
  expect((await memfold("feed", "--store", store, "--after", "x")).err).toContain("position")

  const args = [program, "feed", "--store", store, "--json", "--follow", "--after", after]
  const follower = spawn(process.execPath, args, { env: environment(), stdio: ["ignore", "pipe", "inherit"] })
  const closed = once(follower, "close")
  const found: Array<unknown> = []
  for await (const line of createInterface({ input: follower.stdout })) {
    found.push(...lines(line).map(({ session, version }) => `${String(session)} ${String(version)}`))
    if (found.length === 1) await memory.append("three", said("d"))
    else break
  }
  follower.kill()
  await closed
  expect(found).toEqual(["two 1", "three 1"])
  await memory.close()
})
