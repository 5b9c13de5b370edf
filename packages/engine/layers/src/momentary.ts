/** Predicates of what holds for the moment only. */

const predicates = new Set(
  (
    "build-status build-result build test-result test-status tests-passed lint-result exit-code error last-error error-message " +
    "status current-status progress current-task current-step task-status step current-file current-directory working-directory " +
    "branch-status git-status command last-command output last-output result response-time duration elapsed-time current-time now " +
    "today current-date mood current-mood feeling feels weather current-weather waiting waiting-for is-waiting is-typing typing " +
    "online is-online greeting greeted thanks thanked asked asked-for question request last-question last-message last-request " +
    "temperature cpu-usage memory-usage port-status server-status deployment-status download-progress installed-successfully " +
    "compiled-successfully"
  ).split(" "),
)

/** Whether a predicate is one of what holds for the moment only, however it is written. */
export const isMomentary = (predicate: string): boolean =>
  predicates.has(
    predicate
      .replace(/(\p{Ll})(\p{Lu})/gu, "$1-$2")
      .toLowerCase()
      .replace(/[\s_]+/gu, "-"),
  )
