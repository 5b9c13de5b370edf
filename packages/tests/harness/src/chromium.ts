/** The browser of tests with a page; `scripts/chromium.mjs` says where it is, or how to get it. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of Chromium. */
const chromium = (): string => {
  const named = process.env["MEMFOLD_CHROMIUM"]
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  const files = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  )
  const found = named ?? files.find(isProgram)
  if (found === undefined || !isProgram(found)) {
    throw new Error(
      `no Chromium at ${named ?? "any place in PATH"}; type: node scripts/chromium.mjs, or set MEMFOLD_CHROMIUM=/path/to/chromium`,
    )
  }
  return found
}

/**
 * With what Playwright launches the browser. Chromium has no sandbox for root.
 *
 * @throws Error: there is no Chromium; the message says what to type
 */
export const launchOptions = (): { readonly executablePath: string; readonly args: Array<string> } => ({
  executablePath: chromium(),
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
})
