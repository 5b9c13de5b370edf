/**
 * The groups of tests. A file is in exactly one group: the first of this list that names it.
 *
 * `npm test` runs the quick groups, `npm test -- --all` all but `deep`, and `npm run test:deep` everything with the full counts.
 */
import { createFilter } from "vite"

/** Files are globs, from the root of the repository. */
export const groups = [
  {
    name: "components",
    about: "one short run of each real component",
    quick: true,
    files: [
      "packages/store-sqlite/test/processes.test.ts",
      "packages/stores/store-postgres/test/processes.test.ts",
      "packages/store-redis/test/processes.test.ts",
      "packages/programs/cli/test/cli.test.ts",
      "packages/adapters/ai-sdk/test/browser/browser.test.ts",
    ],
  },
  {
    name: "corpus",
    about: "real transcripts, where MEMFOLD_CORPUS names a folder of them",
    quick: false,
    files: ["packages/programs/*/corpus/**/*.test.ts"],
  },
  {
    name: "deep",
    about:
      "copies of the engine with a fault each, and laws and killed workers on components that others have shown",
    quick: false,
    files: [
      "packages/tests/testing/test/mutants/mutants.test.ts",
      "packages/stores/store-libsql/test/laws.test.ts",
      "packages/stores/sharded/test/postgresLaws.test.ts",
      "packages/stores/worker-{cluster,pg-boss}/test/worker.test.ts",
      "packages/programs/cli/test/accidents.test.ts",
    ],
  },
  {
    name: "stores",
    about: "databases, their files and servers, and queues",
    quick: false,
    files: [
      "packages/stores/**/*.test.ts",
      "packages/store-*/**/*.test.ts",
      "packages/programs/memfold/test/splitSecrets.test.ts",
    ],
  },
  {
    name: "programs",
    about: "built programs, services, workers, pages in a browser, packages, templates",
    quick: false,
    files: [
      "packages/programs/cli/test/**/*.test.ts",
      "packages/programs/create-memfold/**/*.test.ts",
      "packages/tests/harness/test/ports.test.ts",
      "packages/programs/mcp/**/*.test.ts",
      "packages/programs/memfold/test/{bundlers,published}.test.ts",
      "packages/programs/proxy/test/**/*.test.ts",
      "packages/programs/server/**/*.test.ts",
      "packages/programs/studio/test/{hostile,page,timeline}.test.ts",
      "site/src/commands.test.ts",
      "site/src/firstPage.test.ts",
      "site/src/printed.test.ts",
    ],
  },
  {
    name: "libraries",
    about: "adapters with the libraries that they are for, on servers as strict as the providers",
    quick: false,
    files: ["packages/adapters/*/test/**/*.test.ts", "bench/**/*.test.ts"],
  },
  {
    name: "pages",
    about: "documents, examples and tables, which rest on the whole repository",
    quick: true,
    files: [
      "packages/tests/harness/**/*.test.ts",
      "packages/tests/testing/test/mutants/changes.test.ts",
      "packages/programs/memfold/test/{documented,examples,namedTypes,optionTables,packages}.test.ts",
      "site/**/*.test.ts",
    ],
  },
  {
    name: "unit",
    about: "in process: laws, conformance, codecs",
    quick: true,
    files: ["**/*.test.ts"],
  },
]

/** The tests that need a folder of real transcripts. */
export const ofTranscripts = groups.find(({ name }) => name === "corpus").files

/** What is no test of this repository. */
export const noTests = ["**/node_modules/**", "**/dist/**", "**/.examples/**"]

const matchers = groups.map(({ name, files }) => ({
  name,
  matches: createFilter(files, noTests, { resolve: false }),
}))

/** The name of the group of a file; `undefined` for what is no test of this repository. */
export const groupOf = (file) => matchers.find(({ matches }) => matches(file))?.name
