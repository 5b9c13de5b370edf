/** `memfold studio` as a user starts it, and the browser that looks at it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { type Browser, chromium } from "playwright-core"

/** The page, and how to end what serves it. */
export interface Studio {
  /** The address of the service. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** Starts `memfold studio` on files or folders; on the shipped samples without any. */
export const startStudio = async (operands: ReadonlyArray<string> = []): Promise<Studio> => {
  const program = fileURLToPath(import.meta.resolve("@memfold/cli/main"))
  const child = spawn(process.execPath, [program, "studio", ...operands, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  const address = async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const found = /http:\/\/\S+(?=\/studio\/)/.exec(line)
      if (found !== null) return found[0]
    }
    throw new Error("memfold studio has ended without an address")
  }
  const url = await address()
  return {
    url,
    close: async () => {
      child.kill("SIGTERM")
      await ended
    },
  }
}

/** Starts the browser in `MEMFOLD_CHROMIUM`, which the scripts of the repository find. */
export const startBrowser = (): Promise<Browser> => {
  const executablePath = process.env["MEMFOLD_CHROMIUM"]
  if (executablePath === undefined) throw new Error("MEMFOLD_CHROMIUM names no browser")
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] })
}
