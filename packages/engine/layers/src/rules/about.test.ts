import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { about } from "./about.js"

const found = (text: string): ReadonlyArray<string> => about(text).map((fact) => fact.text)
const keys = (text: string): ReadonlyArray<string> => about(text).map(({ key }) => key)

describe("about, in English,", () => {
  it.each([
    ["My name is Ada.", "Name: Ada"],
    ["hi! my name's Ada Lovelace, nice to meet you", "Name: Ada Lovelace"],
    ["my name is ada", "Name: ada"],
    ["Please call me Max.", "Name: Max"],
    ["Hi, I'm Ada.", "Name: Ada"],
    ["Hello! I am José from Spain", "Name: José"],
    ["By the way, I live in Graz now.", "Lives in: Graz"],
    ["I’m based in San Francisco, California.", "Lives in: San Francisco, California"],
    ["I'm originally from New Zealand", "Comes from: New Zealand"],
    ["I'm a senior backend engineer at Acme Corp.", "Role: senior backend engineer at Acme Corp"],
    ["I work as a nurse.", "Role: nurse"],
    ["I work as a ski instructor in winter", "Role: ski instructor"],
    ["I'm a marine biologist", "Role: marine biologist"],
    ["I speak French and German", "Speaks: French and German"],
    ["My birthday is on 3 May", "Birthday: 3 May"],
    ["My pronouns are they/them", "Pronouns: they/them"],
    ["I work for Acme and I like it here", "Works at: Acme"],
    ["My native language is German", "Native language: German"],
    ["I'm 34 years old.", "Age: 34"],
    ["My time zone is UTC+2", "Time zone: UTC+2"],
    ["My wife's name is Sara.", "Name of their wife: Sara"],
    ["I'm allergic to peanuts.", "Allergic to: peanuts"],
    ["I am a vegetarian", "Diet: vegetarian"],
    ["By the way, I've recently been promoted to senior engineer, but I hesitate", "Role: senior engineer"],
    ["I have a Dell XPS laptop, it's about 2 years old", "Has: a Dell XPS laptop"],
    ["I've got two cats", "Has: two cats"],
    ["I have a certification in Data Analysis.", "Has: a certification in Data Analysis"],
    ["I'm usually a pretty early riser.", "Trait: early riser"],
    ["Yeah, I play the clarinet!", "Plays: clarinet"],
    ["I'm learning German now", "Learns: German"],
    ["I'm married.", "Status: married"],
    ["I graduated from Graz University of Technology", "Education: Graz University of Technology"],
    ["I've been living in Graz for three years", "Lives in: Graz"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("profile")
  })

  it.each([
    ["I like green tea.", "Likes: green tea"],
    ["Actually I really love hiking because it calms me", "Likes: hiking"],
    ["I don't like meetings at all", "Dislikes: meetings"],
    ["I can't stand cilantro!", "Dislikes: cilantro"],
    ["I prefer tabs over spaces.", "Prefers: tabs over spaces"],
    ["I usually prefer C# to C++ 😀", "Prefers: C# to C++"],
    ["My favorite color is blue.", "Favourite color: blue"],
    ["I never eat meat", "Habit: never eat meat"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("preference")
  })

  it.each([
    ["Please answer in French.", "Answer in French"],
    ["Always reply to me in German please", "Answer in German"],
    ["Never commit to main.", "Never commit to main"],
    ["Please always use TypeScript, never JavaScript.", "Please always use TypeScript, never JavaScript"],
    ["From now on, keep your answers short.", "From now on, keep your answers short"],
    ["Use metric units from now on", "Use metric units from now on"],
    ["Remember that the release is on Friday", "Remember: the release is on Friday"],
    ["Remember: the staging host is db-2", "Remember: the staging host is db-2"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("instruction")
  })

  it("takes several facts from a sentence, and from a request to remember what it says", () => {
    expect(found("Hi, I'm Ada, I live in Graz and I like tea.")).toEqual([
      "Name: Ada",
      "Lives in: Graz",
      "Likes: tea",
    ])
    expect(found("Remember that I live in Graz.")).toEqual(["Lives in: Graz"])
  })

  it.each([
    // Questions.
    "Do I live in Graz?",
    "I live in Graz?",
    "What do you think I like",
    "Can you always answer in French?",
    // Not about the user.
    "She said I like tea.",
    "My friend told me, I live in Rome.",
    '"I live in Rome." is what it says',
    "> I live in Rome.",
    "Translate: my name is Bob",
    "Translate this to French: I live in Rome. I like tea.",
    "Fix this mail:\n\nHi,\nmy name is Bob. I live in Rome.",
    "Write a story in which my name is Bob",
    "```\nI like tea\n```",
    "    I like tea",
    "<system-reminder>\nAlways answer in French.\n</system-reminder>",
    // Only supposed, or not so.
    "If I live in Rome, what changes?",
    "Suppose my name is Bob.",
    "I would like tea.",
    "I'd like to live in Rome.",
    "I used to live in Rome.",
    "I don't live in Rome.",
    "I'm not a doctor.",
    "I'm an optimist",
    "I work as hard as I can",
    "My birthday is coming up",
    // Of the moment, or not to be understood alone.
    "I like it.",
    "I like that idea.",
    "I love this!",
    "I like the second one.",
    "I prefer option 2.",
    "I prefer not to say.",
    "I hate to bother you.",
    "I like where this is going",
    "I love watching them",
    "I'm a bit confused",
    "I'm back",
    "Hi, I'm sorry about that",
    "Hello, I'm German",
    "I'm a big fan",
    "I work at night",
    "I live in fear",
    "My name is not important",
    "Call me later",
    "Never mind.",
    "Never heard of it",
    "Always a pleasure!",
    "Never give up!",
    "Remember when we met",
    "Remember me?",
    "remember the file btw",
    "Answer in one sentence",
    "Write this in French",
  ])("takes nothing from: %s", (text) => {
    expect(found(text)).toEqual([])
  })

  it("repeats no secret", () => {
    for (const text of [
      "Remember that my password is hunter2",
      "Remember: the API key is on the desk",
      "Always use sk-abcdefghijklmnopqrstuvwx123456",
      "记住我的密码是123456",
      "I like ghp_0123456789abcdefghijABCDEFGHIJ",
    ]) {
      expect(found(text)).toEqual([])
    }
  })

  it("gives the same key to what takes the place of each other", () => {
    for (const [older, newer] of [
      ["My name is Ada", "Call me Countess"],
      ["I live in Graz", "I live in Vienna"],
      ["I like Green Tea!", "I don't like green tea anymore"],
      ["Answer in French", "Please always answer in German"],
      ["My favourite colour is red", "My favourite colour is blue"],
      ["我叫小明", "My name is Ming"],
      ["请用中文回答", "Answer in English"],
      ["从现在开始，请用中文回复", "以后都用英文回答"],
    ] as const) {
      expect(keys(older)).toHaveLength(1)
      expect(keys(newer)).toEqual(keys(older))
    }
    expect(keys("My dog's name is Rex")).not.toEqual(keys("My dog's name is Bo"))
    expect(keys("I like tea")).not.toEqual(keys("I like coffee"))
  })
})

describe("what is found", () => {
  it("is quoted as it stands, with whatever emphasis, spaces and signs are within", () => {
    for (const text of ["I **love**  action and sci-fi movies.", "I love  C++ (and [C#] / F#) ^ $ | \\ {-}."])
      for (const { quote } of about(text)) expect(text).toContain(quote)
    expect(about("I **love**  action and sci-fi movies.").map(({ quote }) => quote)).toEqual([
      "I **love**  action and sci-fi movies.",
    ])
  })

  it("is nothing of the moment, and nothing that only looks like a possession or a role", () => {
    for (const text of [
      "I have a question about my laptop",
      "I have a car problem",
      "I have a laptop in mind?",
      "I play a role in this",
      "I'm learning a lot",
      "I'm married to the idea",
      "I was promoted to say this",
      "If I have a dog, what does it eat?",
      "I've been living in fear",
    ])
      expect([text, found(text)]).toEqual([text, []])
  })
})

describe("about, in Chinese,", () => {
  it.each([
    ["我叫小明。", "姓名：小明"],
    ["你好，我叫Ada，很高兴认识你", "姓名：Ada"],
    ["你可以叫我老王就好", "姓名：老王"],
    ["我的名字是欧阳锋", "姓名：欧阳锋"],
    ["我住在北京。", "住在：北京"],
    ["我現在住在台北", "住在：台北"],
    ["我来自四川成都", "来自：四川成都"],
    ["我是一名后端工程师", "职业：后端工程师"],
    ["我是腾讯的产品经理", "职业：腾讯的产品经理"],
    ["我是一位船长", "职业：船长"],
    ["我是动物学家", "职业：动物学家"],
    ["我会说粤语", "会说：粤语"],
    ["我在医院工作", "工作地点：医院"],
    ["我的母语是中文", "母语：中文"],
    ["我今年30岁", "年龄：30"],
    ["我对花生过敏", "过敏：花生"],
    ["我吃素", "饮食：素食"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("profile")
  })

  it.each([
    ["我喜欢喝绿茶。", "喜欢：喝绿茶"],
    ["我非常喜歡爬山", "喜欢：爬山"],
    ["我不太喜欢开会", "不喜欢：开会"],
    ["我讨厌香菜！", "不喜欢：香菜"],
    ["我更喜欢深色模式", "偏好：深色模式"],
    ["我最喜欢的颜色是蓝色", "最喜欢的颜色：蓝色"],
    ["我从来不吃辣", "不吃：辣"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("preference")
  })

  it.each([
    ["请用中文回答", "用中文回答"],
    ["以后都用英文回答我", "用英文回答"],
    ["從現在開始，請用繁體中文回覆", "從現在開始，請用繁體中文回覆"],
    ["以后不要用表格。", "以后不要用表格"],
    ["永远不要提交到main分支", "永远不要提交到main分支"],
    ["记住：周五发布", "记住：周五发布"],
    ["请记住测试环境的地址是db-2", "记住：测试环境的地址是db-2"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact])
    expect(about(text)[0]?.kind).toBe("instruction")
  })

  it("takes what goes on about the one who speaks", () => {
    expect(found("大家好，我叫小明，住在北京，是一名程序员，喜欢爬山。")).toEqual([
      "姓名：小明",
      "住在：北京",
      "职业：程序员",
      "喜欢：爬山",
    ])
    expect(found("记住我住在北京")).toEqual(["住在：北京"])
  })

  it.each([
    "我叫什么名字",
    "我住在哪里？",
    "我喜欢茶吗",
    "你喜欢什么",
    "我叫了外卖",
    "我叫外卖吧",
    "叫我起床",
    "他说：“我叫小明。我住在北京。”",
    "他说我喜欢茶",
    "翻译：我叫小明。我住在北京。",
    "翻译成英文：\n我叫小明",
    "如果我住在北京，该怎么办",
    "我喜欢这个",
    "我喜欢你",
    "我爱上了她",
    "我喜欢",
    "我不是医生",
    "我是他的老师",
    "我是会员",
    "我是大家的朋友",
    "我是一名用户",
    "用一句话回答",
    "请用原文回答",
    "我住在一个小区里",
    "我以后再说",
    "以后再说吧",
    "记住了吗",
    "记住了",
    "记得上次的问题",
    "```\n我喜欢茶\n```",
    "> 我喜欢茶",
  ])("takes nothing from: %s", (text) => {
    expect(found(text)).toEqual([])
  })
})

describe("about", () => {
  it("takes any text, in time linear in its length", () => {
    const units = [
      "I like tea. ",
      "I like ",
      "I really really ",
      "我很很很",
      "都很",
      "please, also, ",
      "and and ",
      "my name is ",
      "，",
      "🎉",
      "\ud83c",
      "a",
      " ",
      '"',
      "“",
      ". ",
      "?!",
      "I'm a a a ",
      "x ".repeat(20) + "engineer ",
      "I speak French, German and ",
      "A B C ",
      "以后",
      "记住",
      "-",
      "(",
    ]
    const started = cpuTime()
    for (const unit of units) {
      for (const size of [250, 4_000, 2_000_000]) {
        for (const fact of about(unit.repeat(Math.ceil(size / unit.length)))) expect(fact.text).not.toBe("")
      }
      // A sentence at a time, too: the longest that is looked at.
      about(`I like ${unit.repeat(Math.floor(280 / unit.length))}`)
      about(`我喜欢${unit.repeat(Math.floor(280 / unit.length))}`)
      about(`My name is ${unit.repeat(Math.floor(280 / unit.length))}`)
      about(`I'm a ${unit.repeat(Math.floor(280 / unit.length))}`)
    }
    expect(started()).toBeLessThan(10_000)
  })
})
