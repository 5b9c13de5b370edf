/** What tools and shells answer when a call failed. */

const named = /^\s*(?:[\w.$]*(?:error|exception)(?: \[\w+\])?|fatal|错误|失败|异常)\s*[:：]/iu
const traced = /^\s*Traceback \(most recent call last\)/u
const exited = /\bexit(?:ed)?(?: with)? (?:code|status)[:=]? ?[1-9]/iu
/** What tools answer when they could not start, or did not find what they were asked for. */
const refused =
  /^\s*(?:<tool_use_error>|\[Errno \d+\]|error (?:executing|calling|running|invoking|reading|writing|opening|editing|creating|applying|parsing|while|in tool)\b|(?:failed|unable) to\b|(?:could not|couldn't|cannot|can't) (?:access|apply|connect|create|delete|edit|execute|fetch|find|load|open|parse|read|resolve|run|update|write)\b|invalid (?:arguments?|input|parameters?|patch|path|tool call)\b|no replacement was performed|E[A-Z]{3,}: (?:no such file or directory|permission denied|operation not permitted|file already exists|not a directory|illegal operation on a directory), |(?:the )?user (?:has )?(?:rejected|denied|declined|cancelled|canceled|doesn't want to)\b|\[Request interrupted|string to replace (?:was )?not found|request (?:failed|timed out)\b|HTTP(?:\/[\d.]+| status| error)? ?:? ?[45]\d\d\b)/iu
const missing =
  /^\s*(?:(?:the )?(?:file|path|directory|folder|tool|command|function|module|page|url|resource|old_string|old_str|search block|search text|context)\s+(?:\S+ )?(?:(?:was |is )?not found|(?:does not|doesn't) exist)|not found|no such (?:file or directory|file|tool|directory)|(?:permission|access) denied|operation not permitted|command not found|unauthorized|forbidden|timed out|(?:tool|command|function|patch|edit|write)(?: \S+)?(?: (?:call|execution))? failed)(?=\s*(?:[:.,(!<\n]|$)| at | in | with )/iu
/** What a shell says about a command: its name, what it was given, and the error of the system. */
const told =
  /^\s*(?:[\w./-]+: )(?:[^\n]{0,300}: )?(?:cannot [^\n]{0,300}: )?(?:no such file or directory|permission denied|is a directory|not a directory|operation not permitted|command not found|not found|file exists|read-only file system|no space left on device)\s*(?:\n|$)/iu

/** How much of an output is read as JSON: an answer that only says that a call failed is short. */
const mostJson = 20_000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isExitCode = (value: unknown): boolean => typeof value === "number" && value !== 0

/** Whether an output is an object that says by its fields that the call failed. */
const failedInJson = (output: string): boolean => {
  if (output.length > mostJson || !/^\s*\{/u.test(output)) return false
  let value: unknown
  try {
    value = JSON.parse(output)
  } catch {
    return /^\s*\{\s*"error"\s*:(?!\s*(?:null|false|"")\s*[,}])/u.test(output)
  }
  if (!isObject(value)) return false
  const { error, success, ok, isError, is_error, status, metadata } = value
  const codes = [value, isObject(metadata) ? metadata : {}].flatMap((one) => [
    one["exit_code"],
    one["exitCode"],
    one["returncode"],
  ])
  return (
    (error !== undefined && error !== null && error !== false && error !== "") ||
    success === false ||
    ok === false ||
    isError === true ||
    is_error === true ||
    (typeof status === "string" && /^(?:error|failed|failure)$/iu.test(status)) ||
    codes.some(isExitCode)
  )
}

/** Whether an output says that its call failed. */
export const saysFailed = (output: string): boolean => {
  const [start, end] = [output.slice(0, 200), output.slice(-200)]
  return (
    [named, traced, refused, missing, exited].some((sign) => sign.test(start)) ||
    told.test(output.slice(0, 800)) ||
    exited.test(end) ||
    failedInJson(output)
  )
}
