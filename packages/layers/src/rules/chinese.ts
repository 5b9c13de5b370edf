/** What people say of themselves in Chinese, simplified or traditional. Every rule is anchored at a clause's start. */
import type { Clause, Found } from "./Found.js"
import { folded, instruction, profile, taste } from "./Found.js"

const languages =
  "简体中文|簡體中文|繁体中文|繁體中文|中文|汉语|漢語|普通话|普通話|国语|國語|粤语|粵語|英文|英语|英語|日文|日语|日語|韩文|韩语|韓文|韓語|法文|法语|法語|德文|德语|德語|俄文|俄语|俄語|西班牙文|西班牙语|西班牙語|葡萄牙语|葡萄牙語|意大利语|意大利語|阿拉伯语|阿拉伯語|泰语|泰語|越南语|越南語"

const roles =
  "程序员|程式設計師|工程师|工程師|开发者|開發者|架构师|架構師|设计师|設計師|产品经理|產品經理|项目经理|經理|经理|分析师|分析師|研究员|研究員|科学家|科學家|教授|老师|老師|教师|教師|学生|學生|大学生|大學生|研究生|博士生|医生|醫生|护士|護士|药剂师|律师|律師|会计|會計|记者|記者|编辑|編輯|作家|翻译|翻譯|画家|畫家|摄影师|攝影師|音乐人|歌手|演员|導演|导演|厨师|廚師|司机|司機|警察|军人|农民|公务员|公務員|创始人|創辦人|创业者|顾问|顧問|销售|运营|測試|测试|自由职业者|家庭主妇|飞行员|消防员|建筑师|建築師|心理咨询师|健身教练|教练|牙医|兽医"

const form = (text: string): RegExp => new RegExp(text, "u")

const lead =
  /^(?:你好|您好|嗨|哈喽|大家好|对了|對了|其实|其實|另外|还有|還有|哦|嗯|好的|那么|那麼|顺便说一下|顺便说|補充一下|补充一下|说一下|自我介绍一下|没错|是的)[，,、！!\s]*/u

const now = "(?:现在|現在|目前|一直|就|也|还|還|平时|平時){0,2}"
const very = "(?:也|很|非常|特别|特別|最|比较|比較|还|還|真的|超级|超|一直|都|尤其|其实|其實|挺){0,3}"

const name =
  /^(?:我(?:的名字)?叫做?|我的(?:名字|姓名)是|(?:你|您)?(?:可以|就|以后|以後|请|請){1,2}(?:叫|称呼|稱呼)我(?:为|為|作)?)(.+)$/u
const lives = form(`^我${now}(?:住在|居住在|定居在|家在|住)(.+)$`)
const livesIn = form(`^我${now}在(.{2,12}?)(?:生活|居住|定居)$`)
const origin = /^我(?:来自|來自|老家在|老家是|是从|是從)(.+?)(?:来的|來的)?$/u
const role = form(`^我${now}是(?:一名|一位|一个|一個|个|個|名|位|做)?(.{0,12}?(?:${roles}))$`)
const occupation = /^我的(?:职业|職業|工作)是(.{2,15})$/u
const works = form(`^我${now}在(.{2,15}?)(?:工作|上班|任职|任職|就职|就職)$`)
const native = form(`^我的母[语語]是(${languages})$`)
const speaks = form(`^我${now}(?:会|會|能)?(?:说|說|讲|講)(${languages})$`)
const age = /^我(?:今年|现在|現在)?(\d{1,3})[岁歲]了?$/u
const allergic = /^我[对對](.{1,15}?)(?:严重|嚴重|很|也)?[过過]敏$/u
const diet = /^我(?:是)?(素食者|素食主义者|素食主義者|吃素|吃全素)(?:的)?$/u
const doesNotEat = /^我(?:从来|從來|一般)?不(?:能)?吃(.{1,12})$/u
const favourite = /^我最(?:喜欢|喜歡|爱|愛)的(.{1,12}?)是(.+)$/u
const dislikes = form(
  `^我${very}(?:不(?:太|怎么|怎麼|是很|大)?(?:喜欢|喜歡|爱|愛)|讨厌|討厭|厌恶|厭惡|反感|受不了)(.+)$`,
)
const prefers =
  /^我(?:一般|通常|平时|平時|还是|還是|个人|個人){0,2}(?:更喜欢|更喜歡|比较喜欢|比較喜歡|更?[倾傾]向[于於]|更?偏向[于於]?|更?偏好|[习習][惯慣]用)(.+)$/u
const likes = form(`^我${very}(?:喜欢|喜歡|热爱|熱愛|喜爱|喜愛|偏爱|偏愛|爱|愛)(.+)$`)

const tail = /(?:就好了?|就行了?|就可以了?|即可|吧|了|啦|呀|哦|啊|哈|呢)$/u
const end = (text: string): string =>
  text
    .replace(/[。.!！…;；~～\s]+$/u, "")
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

/** The fact in a clause, if there is one. */
export const aboutChinese = ({ text: clause }: Clause): Found | null => {
  const text = end(clause.replace(lead, "").replace(lead, ""))
  if (!/^[我你您可就以请請]/u.test(text)) return null
  const first = (rule: RegExp, group = 1): string | undefined => rule.exec(text)?.[group]?.trim()
  let rest: string | undefined

  if ((rest = first(name)) !== undefined) {
    const found = named(rest)
    return found === null ? null : profile("name", `姓名：${found}`)
  }
  if ((rest = first(lives) ?? first(livesIn)) !== undefined) {
    const found = place(rest)
    return found === null ? null : profile("place", `住在：${found}`)
  }
  if ((rest = first(origin)) !== undefined) {
    const found = place(rest)
    return found === null ? null : profile("origin", `来自：${found}`)
  }
  if ((rest = first(role) ?? first(occupation)) !== undefined) {
    return /^[他她你您这這那谁誰否不我]|的(?:老师|老師|学生|學生|教练)$/u.test(rest)
      ? null
      : profile("role", `职业：${rest}`)
  }
  if ((rest = first(works)) !== undefined) {
    return /^[这這那哪你他她]|努力|认真|認真|家$|^家/u.test(rest)
      ? null
      : profile("workplace", `工作地点：${rest}`)
  }
  if ((rest = first(native)) !== undefined) return profile("native-language", `母语：${rest}`)
  if ((rest = first(speaks)) !== undefined) return profile(`speaks:${rest}`, `会说：${rest}`)
  if ((rest = first(age)) !== undefined) return profile("age", `年龄：${rest}`)
  if ((rest = first(allergic)) !== undefined) {
    const found = thing(rest)
    return found === null ? null : profile(`allergy:${folded(found)}`, `过敏：${found}`)
  }
  if ((rest = first(diet)) !== undefined) return profile("diet:素食", "饮食：素食")
  if ((rest = first(doesNotEat)) !== undefined) {
    const found = thing(rest)
    const meal = /^(?:[早午晚中]?[饭飯餐]|东西|東西|亏|虧|醋|这套)/u
    return found === null || meal.test(found) ? null : taste("不吃：", found)
  }
  if ((rest = first(favourite, 2)) !== undefined) {
    const found = thing(rest)
    const what = first(favourite) ?? ""
    if (found === null) return null
    return { kind: "preference", key: `favourite:${folded(what)}`, text: `最喜欢的${what}：${found}` }
  }
  for (const [rule, label] of [
    [dislikes, "不喜欢："],
    [prefers, "偏好："],
    [likes, "喜欢："],
  ] as const) {
    if ((rest = first(rule)) === undefined) continue
    const found = thing(rest)
    return found === null ? null : taste(label, found)
  }
  return null
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

/** What shall hold from now on, if a whole sentence says so. */
export const instructionChinese = (sentence: string, about: (rest: string) => Found | null): Found | null => {
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

/** Whether a clause goes on about the one who spoke before it: 我叫小明，住在北京. */
export const goesOn = (clause: string): boolean =>
  /^(?:现在|現在|目前|也|还|還|很|最|非常|特别|特別)?(?:住在?|来自|來自|家在|是一[名位个個]|在.{2,15}(?:工作|上班)$|喜欢|喜歡|不喜欢|不喜歡|讨厌|討厭|今年\d|[对對].{1,15}[过過]敏)/u.test(
    clause,
  )

/** Whether a sentence only supposes, orders a text, or reports. */
export const notMeantChinese = (sentence: string): boolean =>
  /^(?:如果|假如|假设|假設|要是|若|当|當|比如|例如|翻译|翻譯|写|寫|改写|润色|帮我写|帮我改|请翻译|请写|请把|想象|想像)|(?:[他她][们們]?|朋友|同事|老板|老闆|妈妈|媽媽|爸爸)[说說问問]|[写寫]道|告[诉訴]我/u.test(
    sentence,
  )

/** Whether a sentence is nothing but a greeting. */
export const isGreetingChinese = (sentence: string): boolean =>
  /^(?:你好|您好|嗨|哈喽|大家好)[呀啊！!。.，,\s]*$/u.test(sentence)
