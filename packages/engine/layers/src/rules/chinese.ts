/** What people say about themselves in Chinese, simplified or traditional. Forms are anchored at a clause's start. */
import type { Clause, Fact, MatchedFact } from "./MatchedFact.js"
import { firstFact, folded, forms, instruction, profile, stated, taste } from "./MatchedFact.js"

/** The names of languages end in 文, 语 or 語; so do some words for a text or a manner of speaking (原文, 口语). */
const languages =
  "(?:[简簡繁][体體])?(?![一外母原全正口成术術短])\\p{sc=Han}{1,4}(?<![论論])[文语語]|普通话|普通話"

/**
 * The last characters of professions. Some of them end other nouns as well (会员, 大家, 先生), which the characters
 * next to them tell apart.
 */
const roles =
  "(?<![会會成一队隊])[员員]|[师師医醫]|[作画畫学學专專]家|[发發记記业業]者|[学學究士医醫]生|经理|經理|教授|护士|護士|会计|會計|编辑|編輯|翻译|翻譯|歌手|[导導]演|司[机機]|警察|[军軍]人|[农農]民|[创創][始办辦]人|[顾顧][问問]|[销銷]售|[运運][营營]|[测測][试試]|主[妇婦]|教[练練]|音[乐樂]人"

const form = (text: string): RegExp => new RegExp(text, "u")

const lead =
  /^(?:你好|您好|嗨|哈喽|大家好|对了|對了|其实|其實|另外|还有|還有|哦|嗯|好的|那么|那麼|顺便说一下|顺便说|補充一下|补充一下|说一下|自我介绍一下|没错|是的)[，,、！!\s]*/u

const now = "(?:现在|現在|目前|一直|就|也|还|還|平时|平時){0,2}"
const very = "(?:也|很|非常|特别|特別|最|比较|比較|还|還|真的|超级|超|一直|都|尤其|其实|其實|挺){0,3}"

const tail = /(?:就好了?|就行了?|就可以了?|即可|吧|了|啦|呀|哦|啊|哈|呢)$/u
const end = (text: string): string =>
  text
    .replace(/(?<![。.!！…;；~～\s])[。.!！…;；~～\s]+$/u, "")
    .replace(tail, "")
    .trim()

/** Two to four characters, or a name in Latin letters. */
const named = (rest: string): string | null => {
  const found = end(rest)
  if (/^[A-Z][A-Za-z'’-]{1,20}(?: [A-Z][A-Za-z'’-]{1,20}){0,2}$/.test(found)) return found
  const written = /^(?:\p{sc=Han}{2,4}|\p{sc=Han}{1,6}[·•]\p{sc=Han}{1,8})$/u.test(found)
  return written &&
    !/^[了他她你您它人不做什啥的来來去过過车車]|外[卖賣]|滴滴|出租|起床|什么|什麼/u.test(found)
    ? found
    : null
}

const place = (rest: string): string | null => {
  const found = end(rest).replace(/(?:附近|这边|這邊|那边|那邊)$/u, "")
  if (/^[A-Z][\p{L}'’.-]*(?:[ ,]+[A-Z][\p{L}'’.-]*){0,3}$/u.test(found)) return found
  const written = /^\p{sc=Han}{2,12}$/u.test(found)
  return written &&
    !/^[一这這那哪他她你您我大小]|^(?:公司|学校|學校|酒店|宾馆|宿舍|家里|家裡|乡下|朋友|父母|楼|隔壁|外面|里面|城里)|[年月天岁和跟与時时了得不]/u.test(
      found.replace(/^大(?=[连連理庆慶同阪])/u, ""),
    )
    ? found
    : null
}

const thing = (rest: string): string | null => {
  const found = end(rest).replace(/的$/u, "")
  return found.length < 1 ||
    found.length > 30 ||
    /^[这這那它你您他她上的了过過死第刚剛]|^(?:什么|什麼|怎|哪|谁|誰|到|得)/u.test(found)
    ? null
    : found
}

const role: Fact = (text) =>
  /^[他她你您这這那谁誰否不我]|^新|^(?:用户|用戶|会员|會員)|(?:爱好者|愛好者)$|的(?:老师|老師|学生|學生|教练|教練)$/u.test(
    text,
  )
    ? null
    : profile("role", `职业：${text}`)

const favourite: Fact = (what, rest) => {
  const found = thing(rest)
  return found === null
    ? null
    : { kind: "preference", key: `favourite:${folded(what)}`, text: `最喜欢的${what}：${found}` }
}

const statements = forms([
  [
    "^(?:我(?:的名字)?叫做?|我的(?:名字|姓名)是|(?:你|您)?(?:可以|就|以后|以後|请|請){1,2}(?:叫|称呼|稱呼)我(?:为|為|作)?)(.+)$",
    stated("name", "姓名：", named),
  ],
  [`^我${now}(?:住在|居住在|定居在|家在|住)(.+)$`, stated("place", "住在：", place)],
  [`^我${now}在(.{2,12}?)(?:生活|居住|定居)$`, stated("place", "住在：", place)],
  ["^我(?:来自|來自|老家在|老家是|是从|是從)(.+?)(?:来的|來的)?$", stated("origin", "来自：", place)],
  // A measure word for persons of a trade says that one follows.
  [`^我${now}是(?:一名|一位|名|位)(.{2,15})$`, role],
  [`^我${now}是(?:一个|一個|个|個|做)?(.{0,12}?(?:${roles}))$`, role],
  ["^我的(?:职业|職業|工作)是(.{2,15})$", role],
  [
    `^我${now}在(.{2,15}?)(?:工作|上班|任职|任職|就职|就職)$`,
    stated("workplace", "工作地点：", (rest) =>
      /^[这這那哪你他她]|努力|认真|認真|家$|^家/u.test(rest) ? null : rest,
    ),
  ],
  [`^我的母[语語]是(${languages})$`, stated("native-language", "母语：", end)],
  [`^我${now}(?:会|會|能)?(?:说|說|讲|講)(${languages})$`, stated("speaks:", "会说：", end)],
  ["^我(?:今年|现在|現在)?(\\d{1,3})[岁歲]了?$", stated("age", "年龄：", end)],
  ["^我[对對](.{1,15}?)(?:严重|嚴重|很|也)?[过過]敏$", stated("allergy:", "过敏：", thing)],
  ["^我(?:是)?(?:素食者|素食主义者|素食主義者|吃素|吃全素)(?:的)?$", stated("diet:", "饮食：", () => "素食")],
  [
    "^我(?:从来|從來|一般)?不(?:能)?吃(?!(?:[早午晚中]?[饭飯餐]|东西|東西|亏|虧|醋|这套))(.{1,12})$",
    taste("不吃：", thing),
  ],
  ["^我最(?:喜欢|喜歡|爱|愛)的(.{1,12}?)是(.+)$", favourite],
  [
    `^我${very}(?:不(?:太|怎么|怎麼|是很|大)?(?:喜欢|喜歡|爱|愛)|讨厌|討厭|厌恶|厭惡|反感|受不了)(.+)$`,
    taste("不喜欢：", thing),
  ],
  [
    "^我(?:一般|通常|平时|平時|还是|還是|个人|個人){0,2}(?:更喜欢|更喜歡|比较喜欢|比較喜歡|更?[倾傾]向[于於]|更?偏向[于於]?|更?偏好|[习習][惯慣]用)(.+)$",
    taste("偏好：", thing),
  ],
  [`^我${very}(?:喜欢|喜歡|热爱|熱愛|喜爱|喜愛|偏爱|偏愛|爱|愛)(.+)$`, taste("喜欢：", thing)],
])

/** The fact in a clause, if there is one. */
export const aboutChinese = (clause: Clause): MatchedFact | null => {
  const text = end(clause.text.replace(lead, "").replace(lead, ""))
  return /^[我你您可就以请請]/u.test(text) ? firstFact(statements, text, clause) : null
}

const you = "(?:请|請|麻烦|麻煩|你|您|要|务必|務必|千万|千萬){0,3}"
const future = "(?:以后|以後|今后|今後|往后|往後|从现在起|从现在开始|從現在起|從現在開始)"
const standing = form(
  `^${you}${future}[，,]?(?:你|您|请|請|都|就|一律|每次|统一|統一|只|不要|别|別|要|用|回答|回复|回覆|务必|務必)`,
)
const always = form(
  `^${you}(?:总是|總是|始终|始終|永远|永遠|一律|每次(?:回答|回复|回覆|都)|不要再)(?:不要|别|別|用|以|使用|先|把|都|要|只|在|给|給|回答|回复|回覆|称呼|稱呼|保持|加|写|寫|说|說|提)`,
)
const answerIn = form(
  `^${you}(?:${future}|一直|都|始终|始終|总是|總是|只|一律){0,3}(?:用|使用|说|說|讲|講)(${languages})(?:来|來)?(回答|回复|回覆|答复|答覆|交流|沟通|溝通|对话|對話|跟我说|和我说|跟我交流|和我交流)?(?:我|问题|問題|我的问题|我的問題)?$`,
)
const remember = form(
  `^(?:请|請|你|您|要|一定要|务必|務必|帮我|幫我){0,3}(?:记住|記住|牢记|牢記|记一下|記一下|别忘了|別忘了|不要忘记|不要忘記)了?[，,：:\\s]*(.{2,})$`,
)

/** The standing instruction in a sentence, if there is one. */
export const instructionChinese = (
  sentence: string,
  about: (rest: string) => MatchedFact | null,
): MatchedFact | null => {
  if (!/\p{sc=Han}/u.test(sentence)) return null
  const text = end(sentence.replace(lead, ""))
  const spoken = answerIn.exec(text)
  if (spoken?.[1] !== undefined && (spoken[2] !== undefined || /^(?:请|請|以后|以後|麻)/u.test(text))) {
    return instruction(`用${spoken[1]}回答`, "answer-language")
  }
  if (standing.test(text) || always.test(text)) {
    const language = form(`[用说說讲講](${languages})`).exec(text)?.[1]
    const isLanguage = language !== undefined && /回答|回复|回覆|交流|沟通|溝通|[说說讲講]/u.test(text)
    return instruction(text, isLanguage ? "answer-language" : undefined)
  }
  const rest = remember.exec(text)?.[1]?.trim()
  if (rest === undefined || /^[吗嗎没沒了这這那哪]|^(?:什么|什麼|你说|你說)/u.test(rest)) return null
  return about(rest) ?? instruction(`记住：${rest}`)
}

/** Whether a clause continues with the subject of the one before it: 我叫小明，住在北京. */
export const goesOn = (clause: string): boolean =>
  /^(?:现在|現在|目前|也|还|還|很|最|非常|特别|特別)?(?:住在?|来自|來自|家在|是一[名位个個]|在.{2,15}(?:工作|上班)$|喜欢|喜歡|不喜欢|不喜歡|讨厌|討厭|今年\d|[对對].{1,15}[过過]敏)/u.test(
    clause,
  )

/** Whether a sentence is a supposition, a request for a text, or reported speech. */
export const notMeantChinese = (sentence: string): boolean =>
  /^(?:如果|假如|假设|假設|要是|若|当|當|比如|例如|翻译|翻譯|写|寫|改写|润色|帮我写|帮我改|请翻译|请写|请把|想象|想像)|(?:[他她][们們]?|朋友|同事|老板|老闆|妈妈|媽媽|爸爸)[说說问問]|[写寫]道|告[诉訴]我/u.test(
    sentence,
  )

/** Whether a sentence is nothing but a greeting. */
export const isGreetingChinese = (sentence: string): boolean =>
  /^(?:你好|您好|嗨|哈喽|大家好)[呀啊！!。.，,\s]*$/u.test(sentence)
