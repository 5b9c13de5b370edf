/**
 * How changelogs are written. The packages have one version, so an entry says what has changed, and not which packages of memfold it
 * depends on.
 */
exports.getReleaseLine = async ({ summary }) => {
  const [first, ...rest] = summary.trim().split("\n")
  return [`- ${first}`, ...rest.map((line) => (line === "" ? "" : `  ${line}`))].join("\n")
}

exports.getDependencyReleaseLine = async () => ""
