/** What the agent can do, within the folder `project`. */
import { execFile } from "node:child_process"
import { lstat, mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises"
import { dirname, relative, resolve } from "node:path"
import { promisify } from "node:util"
import { tool } from "ai"
import { z } from "zod"

const project = await realpath("project")

const isWithin = (file: string): boolean => !relative(project, file).startsWith("..")

/** Where a path really is, behind links; for a file that is to be made, its folder decides. A link to nothing leads nowhere. */
const placeOf = async (file: string): Promise<string | undefined> => {
  const place = await realpath(file).catch(() => undefined)
  if (place !== undefined) return place
  const isLink = await lstat(file).then(
    () => true,
    () => false,
  )
  return isLink ? undefined : placeOf(dirname(file))
}

/** The file of a name, which has to be within the project, and no link that leads out of it. */
const within = async (name: string): Promise<string> => {
  const file = resolve(project, name)
  const place = isWithin(file) ? await placeOf(file) : undefined
  if (place === undefined || !isWithin(place)) throw new Error(`${name} is outside of the project`)
  return file
}

const path = z.string().describe("A path within the project")

export const tools = {
  list: tool({
    description: "List the files of the project",
    inputSchema: z.object({}),
    execute: async () => {
      const entries = await readdir(project, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => relative(project, resolve(parentPath, name)))
    },
  }),
  read: tool({
    description: "Read a file",
    inputSchema: z.object({ path }),
    execute: async ({ path }) => await readFile(await within(path), "utf8"),
  }),
  write: tool({
    description: "Write a file, with its whole text",
    inputSchema: z.object({ path, text: z.string() }),
    execute: async ({ path, text }) => {
      const file = await within(path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      return "written"
    },
  }),
  test: tool({
    description: "Run the tests of the project",
    inputSchema: z.object({}),
    execute: async () => {
      const run = promisify(execFile)(process.execPath, ["--test"], { cwd: project, timeout: 60_000 })
      const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error)
      return `${stdout}${stderr}`.slice(-8_000)
    },
  }),
}
