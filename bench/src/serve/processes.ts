/** The processes of a run: services that print their address, and clients. */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Load, Measured } from "./clients.js"

const program = (name: string): string => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** A process that answers at an address. */
export interface Running {
  readonly url: string
  /** Kills it as a power failure would: it finishes nothing. */
  readonly kill: () => Promise<void>
}

/** Starts a program of this folder, and waits for its address. */
export const start = async (name: string, args: ReadonlyArray<string>): Promise<Running> => {
  const child: ChildProcess = spawn(process.execPath, [program(name), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout! }), "line"),
    ended.then(() => Promise.reject(new Error(`the program ${name} has ended`))),
  ])) as [string]
  return {
    url,
    kill: async () => {
      child.kill("SIGKILL")
      await ended
    },
  }
}

/** Runs clients. `onPart` is called whenever another part of the requests is answered; it waits for nothing. */
export const run = async (load: Load, onPart: () => void = () => undefined): Promise<Measured> => {
  const child = spawn(process.execPath, [program("clients"), JSON.stringify(load)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let last = ""
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "part") onPart()
    else last = line
  }
  return JSON.parse(last) as Measured
}
