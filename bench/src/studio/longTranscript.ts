/** A long session of a coding agent, the same for every run: tasks with tool calls, their outputs, and answers. */

/** The messages of one task. */
const perTask = 8

const line = (task: number, at: number): string =>
  `  ${at + 1}  export const rate${task % 40}x${at} = parse(row, { column: ${(task * 7 + at) % 90}, unit: "EUR" })`

const lines = (task: number, count: number): string =>
  Array.from({ length: count }, (_, at) => line(task, at)).join("\n")

/** One task: a question, two tool calls with their outputs, an edit, and the answer. */
const taskOf = (task: number): ReadonlyArray<object> => {
  const file = `src/rates/column${task % 40}.ts`
  const call = (name: string, args: object) => ({
    id: `call_${task}_${name}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  })
  const asked = (content: string | null, ...tool_calls: ReadonlyArray<object>) => ({
    role: "assistant",
    content,
    tool_calls,
  })
  const result = (name: string, content: string) => ({
    role: "tool",
    tool_call_id: `call_${task}_${name}`,
    content,
  })
  return [
    {
      role: "user",
      content: `Ticket RT-${1_000 + task}: the rates of ${file} are rounded before they are summed. Round the sum instead.`,
    },
    asked(`I will read ${file} first.`, call("read_file", { path: file })),
    result("read_file", lines(task, 6 + (task % 24))),
    asked(
      null,
      call("edit_file", { path: file, replace: line(task, 2), by: `${line(task, 2)} // RT-${1_000 + task}` }),
    ),
    result("edit_file", `${file}: 1 line changed`),
    asked("Now the tests.", call("run", { command: `npm test -- column${task % 40}` })),
    result(
      "run",
      `${lines(task, 2 + (task % 9))}\n${12 + (task % 7)} tests passed, commit ${(task * 7_919 + 104_729).toString(16)}`,
    ),
    {
      role: "assistant",
      content: `RT-${1_000 + task} is done: ${file} now rounds the sum. All ${12 + (task % 7)} tests pass.${task > 9 ? ` It follows what we did for RT-${991 + task}.` : ""}`,
    },
  ]
}

/** The transcript as JSON Lines: `count` messages in the format of Chat Completions, one every twenty seconds. */
export const longTranscript = (count: number): string => {
  const start = Date.UTC(2026, 0, 5, 9)
  const tasks = Array.from({ length: Math.ceil(count / perTask) }, (_, task) => taskOf(task)).flat()
  return tasks
    .slice(0, count)
    .map((message, at) =>
      JSON.stringify({ ...message, timestamp: new Date(start + at * 20_000).toISOString() }),
    )
    .join("\n")
}
