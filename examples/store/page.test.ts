/** `docs/stores.md` shows the store of this folder, and its test, as they are. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

it.each(["fileLog.ts", "fileLog.test.ts"])("the page shows %s as it is", (name) => {
  const page = readFileSync(new URL("../../docs/stores.md", import.meta.url), "utf8")
  const code = readFileSync(new URL(`./${name}`, import.meta.url), "utf8")
  expect(page).toContain(`\`\`\`ts\n${code}\`\`\``)
})
