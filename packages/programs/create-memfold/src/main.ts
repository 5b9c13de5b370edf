/** `npm create memfold`: asks which template and where, and copies it. */
import { relative } from "node:path"
import { createInterface } from "node:readline/promises"
import { parseArgs, styleText } from "node:util"
import { create, CreateError, templates } from "./index.js"

const width = Math.max(...templates.map(({ name }) => name.length)) + 2

const help = `npm create memfold [FOLDER] -- --template NAME

Makes an application with conversation memory. It asks for what is left out. Each starts with \`npm start\`,
offline; with OPENAI_API_KEY a model answers.

${templates.map(({ name, description }) => `  ${name.padEnd(width)}${description}`).join("\n")}

  -t, --template NAME   which of these
  -h, --help            this text`

const asked = async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { template: { type: "string", short: "t" }, help: { type: "boolean", short: "h" } },
  })
  const [folder, ...more] = positionals
  if (more.length > 0) throw new CreateError(`one folder is expected, not ${positionals.join(" and ")}`)
  return { ...values, folder }
}

/** The package manager that runs this, as the user typed it. */
const manager = /^(pnpm|yarn|bun)\//u.exec(process.env["npm_config_user_agent"] ?? "")?.[1] ?? "npm"

const chosen = async (template: string | undefined, folder: string | undefined) => {
  if (template !== undefined && folder !== undefined) return { template, folder }
  if (!process.stdin.isTTY) return { template: template ?? "terminal-chat", folder: folder ?? "my-chat" }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const name = async () => {
      for (const [position, one] of templates.entries())
        console.log(`  ${position + 1}  ${one.name.padEnd(width)}${styleText("dim", one.description)}`)
      const answer = (await terminal.question("Which template? ")).trim()
      return templates[Number(answer) - 1]?.name ?? answer
    }
    const of = template ?? (await name())
    return {
      template: of,
      folder: folder ?? ((await terminal.question(`Into which folder? (${of}) `)).trim() || of),
    }
  } finally {
    terminal.close()
  }
}

/** A folder as a shell takes it: some characters would end the name, and a hyphen would make an option of it. */
const typed = (folder: string): string => {
  const name = folder.startsWith("-") ? `./${folder}` : folder
  return /[^\p{L}\p{N}_./\\:@+-]/u.test(name) ? `"${name}"` : name
}

const main = async () => {
  const { help: wantsHelp, ...given } = await asked()
  if (wantsHelp === true) return console.log(help)
  const { template, folder } = await chosen(given.template, given.folder)
  const target = create(template, folder)
  const where = relative(process.cwd(), target) || "."
  console.log(`${template} is in ${where}. Now:\n`)
  if (where !== ".") console.log(`  cd ${typed(where)}`)
  console.log(`  ${manager} install\n  ${manager} start`)
}

await main().catch((error: unknown) => {
  const isOurs =
    error instanceof CreateError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS")
  // Node adds how to give such an argument as a name; no folder is called so.
  const [message = ""] = (error as Error).message.split(". To specify a positional")
  console.error(
    isOurs === true ? `create-memfold: ${message}; npm create memfold -- --help lists the options` : error,
  )
  process.exitCode = 1
})
