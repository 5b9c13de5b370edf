import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { queryTermsOf, termsOf } from "./terms.js"

const finds = (query: string, text: string): boolean => {
  const terms = new Set(termsOf(text))
  return queryTermsOf(query).some((term) => terms.has(term))
}

const findsAll = (query: string, text: string): boolean => {
  const terms = new Set(termsOf(text))
  return queryTermsOf(query).every((term) => terms.has(term))
}

describe("search terms", () => {
  it("are words in their base form, without stop words", () => {
    expect(termsOf("What is the PORT of the database?!")).toEqual(["port", "databas"])
    expect(termsOf("the of and to")).toEqual([])
    expect(termsOf("Don't you see Caroline's book’s cover?")).toEqual(["see", "carolin", "book", "cover"])
    for (const [one, other] of [
      ["deploys", "deployed"],
      ["testing", "tests"],
      ["prices", "pricing"],
      ["cities", "city"],
      ["dishes", "dish"],
      ["went", "going"],
      ["bought", "buying"],
      ["children", "child"],
      ["seeing", "saw"],
      ["using", "uses"],
      ["running", "ran"],
      ["deployment", "deploying"],
    ] as const) {
      expect([one, termsOf(`the ${one}`)]).toEqual([one, termsOf(`the ${other}`)])
    }
    expect(termsOf("bus")).not.toEqual(termsOf("but bu"))
  })

  it("find identifiers and paths as people type them", () => {
    for (const typed of ["KX-4471", "kx-4471", "KX 4471", "kx4471", "order KX_4471", "4471"])
      expect([typed, finds(typed, "My order is KX-4471.")]).toEqual([typed, true])
    for (const typed of [
      "src/money.ts",
      "money.ts",
      "money",
      "src\\money.ts",
      "./src/money.ts:42",
      "`money.ts`",
    ])
      expect([typed, finds(typed, "I changed src/money.ts, line 42")]).toEqual([typed, true])
    expect(findsAll("parse price", "call parsePrice2()")).toBe(true)
    expect(findsAll("parse price", "call parse_price()")).toBe(true)
    expect(findsAll("HTTP server", "class HTTPServer")).toBe(true)
    expect(finds("parseprice2", "call parsePrice2()")).toBe(true)
    expect(finds("e-mail", "send an email")).toBe(true)
    expect(finds("ada@example.org", "Write to Ada@example.org")).toBe(true)
    expect(finds("KX-4471", "My order is KX-4472")).toBe(true)
    expect(termsOf("KX-4471")).toContain("kx4471")
    expect(termsOf("KX-4472")).not.toContain("kx4471")
  })

  it("find Chinese and other scripts without spaces, in parts of compounds too", () => {
    expect(findsAll("数据库", "我们的数据库怎么备份")).toBe(true)
    expect(findsAll("备份", "数据库怎么备份")).toBe(true)
    expect(finds("茶", "我喜欢喝绿茶")).toBe(true)
    expect(finds("今天下雨吗", "喜欢喝茶")).toBe(false)
    expect(finds("订单KX-4471在哪", "订单 KX-4471")).toBe(true)
    expect(finds("用Rust写的parser", "a Rust parser")).toBe(true)
    expect(findsAll("東京タワー", "東京タワーに行きました")).toBe(true)
    expect(finds("ภาษาไทย", "ฉันพูดภาษาไทย")).toBe(true)
    expect(queryTermsOf("我们的订单是什么？")).toEqual(["订单"])
    expect(queryTermsOf("茶")).toEqual(["茶"])
    expect(queryTermsOf("我的猫")).toEqual(["猫"])
    expect(queryTermsOf("好的，谢谢")).toEqual([])
  })

  it.each([
    [
      "German",
      ["Bestellung", "Bestellungen"],
      ["Haus", "Häuser"],
      ["Müller", "Muller"],
      ["Straße", "Strasse"],
    ],
    ["Dutch", ["bestelling", "bestellingen"], ["betaling", "betalingen"], ["zending", "zendingen"]],
    [
      "compounds of German",
      ["Kindergarten", "Kindergartenplatz"],
      ["Versicherung", "Versicherungsvertreter"],
    ],
    ["compounds of Dutch", ["ziekenhuis", "ziekenhuisbezoek"], ["verzekering", "verzekeringspolis"]],
    ["compounds of Swedish", ["försäkring", "försäkringspremie"], ["sjukhus", "sjukhusbesök"]],
    ["French", ["façade", "facade"], ["Café", "cafe"], ["commandé", "commandes"], ["cœur", "coeur"]],
    ["Spanish", ["pedido", "pedidos"], ["llamé", "llamar"], ["niña", "ninas"]],
    ["Polish", ["faktura", "fakturę"], ["Łódź", "lodz"], ["klucz", "kluczami"]],
    ["Turkish", ["sipariş", "siparişlerim"], ["ISPARTA", "ısparta"], ["İzmir", "izmir"]],
    ["Vietnamese", ["đơn hàng", "don hang"], ["Hà Nội", "Ha Noi"]],
    ["Russian", ["заказ", "заказов"], ["посылка", "посылок"], ["ещё", "еще"], ["доставка", "доставку"]],
    ["Ukrainian", ["замовлення", "замовленням"], ["квиток", "квитки"]],
    ["Greek", ["παραγγελία", "παραγγελίες"], ["λόγος", "ΛΟΓΟΣ"]],
    ["Georgian", ["შეკვეთა", "შეკვეთის"]],
    ["Armenian", ["պատվեր", "պատվերներ"]],
    ["Hebrew", ["ההזמנה", "הזמנות"], ["שָׁלוֹם", "שלום"]],
    [
      "Arabic",
      ["الطلبات", "طلب"],
      ["كِتَاب", "كتاب"],
      ["إلى", "الى"],
      ["كتاب", "كتابها"],
      ["بلدية", "بلديات"],
      ["لاعب", "لاعبون"],
      ["٤٢٧١", "4271"],
    ],
    ["Persian", ["می‌خواهم", "میخواهم"], ["۱۲۳۴", "1234"]],
    ["Hindi", ["ऑर्डर", "ऑर्डरों"], ["चाबी", "चाबियाँ"], ["४२७१", "4271"]],
    ["Korean", ["주문번호", "주문번호를"], ["집", "집에"], ["주문", "주문번호"], ["배송", "배송이"]],
    ["Japanese", ["ﾀﾜｰ", "タワー"], ["東京", "東京タワー"]],
  ])("of %s fold the forms of a word", (_, ...pairs) => {
    for (const [one = "", other = ""] of pairs) {
      expect([one, other, finds(one, other)]).toEqual([one, other, true])
    }
  })

  it.each([
    ["Bestellung", "Bestand"],
    ["commande", "comment"],
    ["pedido", "perro"],
    ["sipariş", "sipahi"],
    ["заказ", "закат"],
    ["παραγγελία", "παράδοση"],
    ["الطلب", "الطرد"],
    ["ऑर्डर", "पार्सल"],
    ["주문", "배송"],
    ["შეკვეთა", "გატანა"],
  ])("tell %s and %s apart", (one, other) => {
    expect(finds(one, other)).toBe(false)
  })

  it("fold words however they are written, and find numbers however they are grouped", () => {
    expect(finds("password", "my pass\u200bword")).toBe(true)
    expect(finds("co\u00adoperation", "cooperation")).toBe(true)
    expect(findsAll("🎂", "A 🎂 for Ada")).toBe(true)
    expect(finds("🎂", "A 🎁 for Ada")).toBe(false)
    expect(findsAll("🤷", "🤷🏽‍♀️ no idea")).toBe(true)
    for (const typed of ["1299", "1,299", "1.299", "1 299", "1'299"])
      for (const said of ["It costs 1,299 euros", "1299", "1.299 €", "1 299"])
        expect([typed, said, findsAll(typed.replace(/\D/g, ""), said)]).toEqual([typed, said, true])
    for (const typed of ["+43 660 123 4567", "06601234567", "0660/123-4567", "(0660) 123 45 67", "1234567"])
      expect([typed, finds(typed, "Call me: +43 660 1234567")]).toEqual([typed, true])
    expect(finds("0660 765 4321", "Call me: +43 699 1234567")).toBe(false)
  })

  it("of a long query are the terms of its start and its end, up to a limit", () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `x${at}`)
    const terms = queryTermsOf(words.join(" "))
    expect(terms).toHaveLength(64)
    expect(terms).toEqual(expect.arrayContaining(["x0", "x19999"]))
    expect(queryTermsOf(words.slice(0, 20).join(" "))).toEqual([
      ...new Set(words.slice(0, 20).flatMap((word) => termsOf(word))),
    ])
  })

  it("do not choke on what has none", () => {
    for (const text of ["", "🎉 \ud83c !!! …", "'’_-./", "the"]) expect(queryTermsOf(text)).toEqual([])
    expect(termsOf("x".repeat(65))).toEqual([])
    expect(termsOf("ＡＢＣ")).toEqual(termsOf("abc"))
  })

  it("take time linear in the length", () => {
    const time = (text: string): number => {
      const start = cpuTime()
      termsOf(text)
      return start()
    }
    time("warm up 漢字かな a-b.c/d")
    /** Processor time has outliers on a busy machine. What takes quadratic time is too slow at every try. */
    const isLinear = (unit: string): boolean => {
      let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let tries = 0; tries < 12; tries++) {
        short = Math.min(short, time(unit.repeat(10_000)))
        long = Math.min(long, time(unit.repeat(40_000)))
        if (tries > 1 && long < 10 * Math.max(short, 5)) return true
      }
      return false
    }
    for (const unit of [
      "漢",
      "word ",
      "ก",
      "a1漢 ",
      "a-",
      "aB",
      "a/",
      ".",
      "'",
      "1 ",
      "1",
      "1,222,",
      "é ",
      "주문 ",
    ])
      expect([unit, isLinear(unit)]).toEqual([unit, true])
  })
})
