/** The packages that are published, and the first example of each README. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { floors } from "../floors.mjs"
import { root } from "../setup.mjs"

/** Each published package: its folder from the root, and its manifest. */
export const packages = floors
  .flatMap((floor) => floor.packages)
  .map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
  }))
  .filter(({ manifest }) => manifest.private !== true)

/** What a README says to install, and its first block of code. */
export const readme = (folder) => {
  const text = readFileSync(join(root, folder, "README.md"), "utf8")
  const [, line = ""] = /^npm install ((?:.*\\\n)*.*)$/mu.exec(text) ?? []
  const [, code] = /^```ts\n([\s\S]*?)^```$/mu.exec(text) ?? []
  const install = line.split(/[\s\\]+/u).filter((word) => word !== "" && !word.startsWith("-"))
  return { install, code }
}
