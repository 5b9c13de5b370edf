/** What the install lines of a document bring into the folder of its reader. */

/** The name of a package in an install line, without its version. */
const nameIn = (word: string): string => word.replace(/(?<=.)@[^/]*$/u, "")

/** The words of each install line, in blocks and within sentences. */
const linesOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/npm (?:install|i) ((?:[^`\n\\]|\\\n)*)/gu)].map(([, line = ""]) =>
    line.split(/[\s\\]+/u).filter((word) => /^[@a-z]/u.test(word)),
  )

/** What a skill adds to: the packages of the application. */
const besideOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/beside ((?:`[^`]+`(?: (?:and|or) )?)+)/gu)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([^`]+)`/gu)].map(([, name = ""]) => name),
  )

/** The packages that a document says to install; `memfold` for one that says nothing. */
export const installedBy = (text: string): ReadonlyArray<string> => {
  const names = [...new Set([...linesOf(text).flat(), ...besideOf(text)].map(nameIn))]
  return names.length === 0 ? ["memfold"] : names
}
