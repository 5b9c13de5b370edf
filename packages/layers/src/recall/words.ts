/** The words of a text as search terms, in any language. */

const wordRuns = /[\p{L}\p{M}\p{Nd}]+/gu
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu

/** Scripts before Thai all write spaces; most texts are done with this. */
const spaced = /^[!-\u0dff]+$/

/** `Intl.Segmenter` takes more than linear time, so longer runs are cut into pieces. */
const longestRun = 100

/** Longer runs of letters are not words. */
const longestWord = 64

let segmenter: Intl.Segmenter | undefined
/** Made on first use. The locale is fixed: every machine finds the same words. */
const segment = (run: string): Iterable<Intl.SegmentData> =>
  (segmenter ??= new Intl.Segmenter("en", { granularity: "word" })).segment(run)

/** Words without a topic. Decision 27 has the measurement: without the list, recall is 5 points lower. */
const stop = new Set(
  [
    "hello hi hey welcome help today a about above after again all also am an and any are as at be because been before being between both but by can could did do does doing don done down during each few for from further get give go got had has have having he her here hers him his how i if in into is it its itself just know let like ll make me more most much my need no nor not now of off ok okay on once only or other our out over own please re really s same say see she should so some such t tell than thank thanks that the their them then there these they thing things this those through to too under until up us use user users using ve very want was way we well were what when where which while who whom why will with would yes you your",
    "你好 您好 不客气 不客氣 的 了 是 我 你 您 我的 你的 您的 他的 她的 请问 請問 他 她 它 们 們 我们 我們 你们 你們 他们 他們 在 有 和 与 與 或 及 就 都 也 还 還 很 不 没 沒 没有 沒有 这 這 那 这个 這個 那个 那個 这些 那些 这里 那里 什么 什麼 怎么 怎麼 怎样 怎么样 怎麼樣 为什么 為什麼 吗 嗎 呢 吧 啊 呀 哦 嗯 么 麼 请 請 把 被 让 讓 给 給 对 對 从 從 到 会 會 能 可以 要 想 说 說 一个 一個 一 个 個 一下 一些 用户 用戶 着 著 过 過 地 得 之 其 而 且 但 但是 因为 因為 所以 如果 然后 然後 谢谢 謝謝 好 好的 多少 几 幾 谁 誰 哪 哪里 哪裡 知道 告诉 告訴",
  ]
    .join(" ")
    .split(" "),
)

/** Folds English endings: "deploys", "deployed" and "deploy" become one term. Other languages lose little. */
const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  const base = word.length > 5 ? word.replace(/(?:ing|ed)$/, "") : word
  const rest = (base.length >= 3 ? base : word).replace(/(?:es|s|e)$/, "").replace(/y$/, "i")
  return rest.length >= 3 ? rest : word
}

/**
 * The words in their order, a word as often as it occurs. Scripts without spaces are cut by dictionary, and longer
 * words of theirs count by their pairs of characters as well, because where a compound is cut varies.
 */
export const words = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const add = (word: string): void => {
    if (word.length <= longestWord && !stop.has(word)) found.push(stem(word))
  }
  const addCut = (run: string): void => {
    for (let at = 0; at < run.length; at += longestRun) {
      for (const { segment: word } of segment(run.slice(at, at + longestRun))) {
        add(word)
        const characters = [...word]
        for (let pair = 1; characters.length > 2 && pair < characters.length; pair++) {
          add(`${characters[pair - 1]}${characters[pair]}`)
        }
      }
    }
  }
  for (const [run] of text.normalize("NFKC").toLowerCase().matchAll(wordRuns)) {
    if (spaced.test(run)) {
      add(run)
      continue
    }
    let from = 0
    for (const match of run.matchAll(unspaced)) {
      if (match.index > from) add(run.slice(from, match.index))
      addCut(match[0])
      from = match.index + match[0].length
    }
    if (from < run.length) add(run.slice(from))
  }
  return found
}
