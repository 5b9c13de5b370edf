/** The agent's tools stay within the project: `npm test` */
import assert from "node:assert"
import { rmSync, symlinkSync } from "node:fs"
import { test } from "node:test"
import { tools } from "./tools.js"

const options = { toolCallId: "1", messages: [], context: {} }

test("a name or a link that leads out of the project is refused", async () => {
  const links = { "link-out": "..", "link-nowhere": "../nothing.txt" }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, `project/${name}`)
  try {
    for (const path of ["../package.json", "link-out/package.json"])
      await assert.rejects(async () => tools.read.execute!({ path }, options), /outside of the project/)
    for (const path of ["link-out/new.txt", "link-nowhere"])
      await assert.rejects(
        async () => tools.write.execute!({ path, text: "x" }, options),
        /outside of the project/,
      )
    assert.match(String(await tools.read.execute!({ path: "sum.js" }, options)), /sum/)
  } finally {
    for (const name of Object.keys(links)) rmSync(`project/${name}`)
  }
})
