/** Makes an application from a template: what `npm create memfold` does, as functions. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const templatesFolder = fileURLToPath(new URL("../templates", import.meta.url))

/** All packages of memfold are released with one version. */
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string
}

/** A template, as its `package.json` describes it. */
export interface Template {
  readonly name: string
  readonly description: string
}

/** An application could not be made; the message says why, and what to do. */
export class CreateError extends Error {
  override readonly name = "CreateError"
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string
    description: string
    dependencies: Record<string, string>
    devDependencies: Record<string, string>
  }

/** The templates, by their names. */
export const templates: ReadonlyArray<Template> = readdirSync(templatesFolder)
  .toSorted()
  .map((name) => ({ name, description: manifestOf(join(templatesFolder, name)).description }))

/** The packages of memfold, in the version of this package. */
const withVersions = (dependencies: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [
      name,
      range.startsWith("workspace:") ? `^${version}` : range,
    ]),
  )

/** A name that npm allows, made of a folder's. */
const packageName = (folder: string) =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/gu, "-")
    .replaceAll(/^[._-]+|-+$/gu, "") || "memfold-app"

/** What a folder has besides the repository that it may be. */
const entriesOf = (folder: string) => readdirSync(folder).filter((entry) => entry !== ".git")

/** Fills a folder that is there, and has no files yet. */
const fill = (target: string, source: string) => {
  cpSync(source, target, { recursive: true })
  // npm publishes no file of the name .gitignore.
  renameSync(join(target, "_gitignore"), join(target, ".gitignore"))
  const manifest = manifestOf(source)
  const written = {
    ...manifest,
    name: packageName(target),
    dependencies: withVersions(manifest.dependencies),
    devDependencies: withVersions(manifest.devDependencies),
  }
  writeFileSync(join(target, "package.json"), `${JSON.stringify(written, null, 2)}\n`)
}

/**
 * Copies a template into a folder, which is made if it does not exist.
 *
 * @param template - the name of one of {@link templates}
 * @param folder - where to, relative to the working directory; it has to be empty, but for `.git`
 * @returns the absolute path of the folder
 * @throws CreateError: there is no such template, the folder has files, or it cannot be written; nothing is left of it then
 *
 * @example
 * ```ts
 * import { create } from "create-memfold"
 *
 * console.log(create("terminal-chat", "my-chat"))
 * ```
 */
export const create = (template: string, folder: string): string => {
  if (!templates.some(({ name }) => name === template)) {
    const names = templates.map(({ name }) => name).join(", ")
    throw new CreateError(`there is no template "${template}"; there are: ${names}`)
  }
  const target = resolve(folder)
  try {
    if (existsSync(target) && entriesOf(target).length > 0)
      throw new CreateError(`${folder || "this folder"} is not empty; name another folder`)
    const created = mkdirSync(target, { recursive: true })
    try {
      fill(target, join(templatesFolder, template))
    } catch (error) {
      const left = created === undefined ? entriesOf(target).map((entry) => join(target, entry)) : [created]
      for (const path of left) rmSync(path, { recursive: true, force: true })
      throw error
    }
  } catch (error) {
    if (error instanceof CreateError) throw error
    const { message } = error as Error
    throw new CreateError(`${folder} could not be written: ${message}; name another folder`, { cause: error })
  }
  return target
}
