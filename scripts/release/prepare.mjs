/**
 * The tarballs of a release: the work tree is copied, built, given its versions by Changesets, and packed. They are kept, with what
 * has passed, for as long as no file changes.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"
import { root } from "../setup.mjs"
import { strip } from "./comments.mjs"
import { packages } from "./packages.mjs"

/** Where releases are tried: outside of the work tree, so that nothing of it is found from there. */
export const cache =
  process.env.MEMFOLD_RELEASE_FOLDER ??
  join(tmpdir(), `memfold-release-${createHash("sha256").update(root).digest("hex").slice(0, 8)}`)

/** The pinned package manager: a program of its own, which needs no Node. */
export const pnpm = join(root, "node_modules/pnpm/pnpm")

export const must = (command, args, options = {}) => {
  const { status, stdout } = spawnSync(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 1e8,
    ...options,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}`)
  return stdout
}

/** The id of what the work tree has, committed or not. */
const treeId = () => {
  const index = join(cache, "index")
  const options = { cwd: root, env: { ...process.env, GIT_INDEX_FILE: index } }
  rmSync(index, { force: true })
  must("git", ["add", "--all"], options)
  return must("git", ["write-tree"], options).trim()
}

const copyTree = (copy) => {
  const listed = must("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root })
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    copyFileSync(join(root, file), join(copy, file))
  }
  // Changesets asks Git for the commit of each change.
  const options = { cwd: copy }
  must("git", ["init", "--quiet", "--initial-branch=main"], options)
  must("git", ["add", "--all"], options)
  const author = ["-c", "user.name=release", "-c", "user.email=release@localhost"]
  must("git", [...author, "commit", "--quiet", "--message", "A release"], options)
}

/** Where turbo keeps what it has built: work trees of a repository share it. */
const turboCache = () => {
  const git = must("git", ["rev-parse", "--path-format=absolute", "--git-common-dir"], { cwd: root }).trim()
  return join(dirname(git), ".turbo/cache")
}

/** The size of a tarball, and of the files in it, in kB. */
const sizesOf = (file) => {
  const archive = gunzipSync(readFileSync(file))
  let unpacked = 0
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0;) {
    const size = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8)
    // An ordinary file; the others describe one.
    if (["0", "\0"].includes(String.fromCharCode(archive[at + 156]))) unpacked += size
    at += 512 + Math.ceil(size / 512) * 512
  }
  const kilobytes = (bytes) => Math.ceil(bytes / 100) / 10
  return { tarball: kilobytes(statSync(file).size), unpacked: kilobytes(unpacked) }
}

/**
 * Makes the tarballs, unless the work tree has not changed since they were made.
 *
 * @returns the folder of the release, its version, the tarballs, and which parts have passed
 */
export const prepare = (say, { fresh }) => {
  mkdirSync(cache, { recursive: true })
  const folder = join(cache, treeId())
  const done = join(folder, "prepared.json")
  if (fresh) rmSync(folder, { recursive: true, force: true })
  if (existsSync(done)) {
    say("the work tree has not changed: its tarballs are used again (--fresh makes them anew)")
    return { folder, isNew: false, ...JSON.parse(readFileSync(done, "utf8")) }
  }
  // One release is kept.
  for (const name of readdirSync(cache))
    if (/^[0-9a-f]{40,}$/u.test(name)) rmSync(join(cache, name), { recursive: true, force: true })
  const [copy, packed] = [join(folder, "copy"), join(folder, "packed")]
  say("copies the work tree")
  copyTree(copy)
  say("installs its packages")
  must(pnpm, ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"], { cwd: copy })
  say("builds")
  // What a build makes does not depend on the versions: what was built before is taken from the cache of turbo.
  must(
    join(copy, "node_modules/.bin/turbo"),
    ["run", "build", "--cache-dir", turboCache(), "--output-logs", "errors-only"],
    {
      cwd: copy,
      env: {
        ...process.env,
        PATH: `${join(copy, "node_modules/.bin")}:${process.env.PATH}`,
        TURBO_TELEMETRY_DISABLED: "1",
      },
    },
  )
  must(join(copy, "node_modules/.bin/changeset"), ["version"], { cwd: copy })
  const { version } = JSON.parse(readFileSync(join(copy, "packages/programs/memfold/package.json"), "utf8"))
  say(`memfold ${version}: packs`)
  mkdirSync(packed, { recursive: true })
  const tarballs = packages.map(({ folder: own, manifest: { name } }) => {
    if (existsSync(join(copy, own, "dist"))) strip(join(copy, own, "dist"))
    const file = join(packed, `${name.replace("@", "").replace("/", "-")}.tgz`)
    must(pnpm, ["pack", "--out", file], { cwd: join(copy, own) })
    return { name, file, sizes: sizesOf(file) }
  })
  copyFileSync(join(copy, "packages/programs/memfold/CHANGELOG.md"), join(folder, "CHANGELOG.md"))
  rmSync(copy, { recursive: true, force: true })
  writeFileSync(done, JSON.stringify({ version, tarballs }))
  return { folder, isNew: true, version, tarballs }
}
