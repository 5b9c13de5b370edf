/** Words that ask what was said or done, and name no topic: a query of them and a time asks for the time alone. */

/** The empty words of a language: what asks, who speaks, what helps a verb, and verbs of saying and of what happens. */
type EmptyWords = Readonly<Record<"questions" | "people" | "helpers" | "verbs" | "others", string>>

const english: EmptyWords = {
  questions: "what which who whom when where why how whats",
  people: "i me my we us our you your they them she he it everything anything something all",
  helpers: "am is are was were be been do does did done have has had can could would will shall s ve d re ll",
  verbs:
    "say says said talk talked talking speak spoke spoken tell told discuss discussed discussing agree agreed decide decided recap saying telling mention mentioned happen happened happening write wrote written ask asked chat chatted cover covered go going went gone on make made work worked working doing let know remember recall remind show give find search summarize summarise came come leave left miss missed",
  others:
    "about to with and or of the a an at in up over there that this these those again exactly please so new just ever before between conversation conversations chat message messages topic topics thing things last time back since off any news interesting summary overview",
}

const german: EmptyWords = {
  questions:
    "was welche welcher welches welchen wer wen wem wann wo warum wieso wie worüber wovon worum wobei woran",
  people:
    "ich mich mir wir uns du dich dir ihr euch sie ihnen er es man alles etwas alle jemand unser unsere unserem unserer unseren mein meine dein deine",
  helpers:
    "ist sind war waren bin bist wurde wurden worden werden wird hat hab habe haben hast hatte hatten hattest habt kann kannst könnt könntest konnte soll sein gewesen",
  verbs:
    "sagen sagte sagten gesagt reden redeten geredet sprechen sprach sprachen gesprochen besprechen besprachen besprochen erzählen erzählt erzählte schreiben schrieb geschrieben passieren passierte passiert geschehen geschah los gelaufen lief machen machte gemacht tun getan fragen fragte gefragt diskutieren diskutiert erwähnen erwähnt ging gehen gab geben zeig zeige such suche finde fass fasse zusammen weißt erinnerst vorgefallen unterhalten rede abgemacht beredet bereden gearbeitet arbeiten arbeiteten vereinbart ausgemacht beschlossen erzähltest sagtest wollte wolltest gibt sag erzähl erinnere kam kamen heraus raus stand standen stehen blieben geblieben verblieben",
  others:
    "denn eigentlich nochmal noch mal bitte da so alles genau über von und oder mit zu das die der den dem ein eine um in auf dran an seit aus zusammenfassung überblick thema themen neues nachricht nachrichten gespräch gespräche unterhaltung chat ding dinge sachen",
}

const french: EmptyWords = {
  questions: "que qu quoi qui quel quelle quels quelles quand où comment pourquoi est ce",
  people: "je j c me m moi on nous tu te t toi vous il elle ils elles se s tout rien chose choses",
  helpers:
    "suis es est sommes êtes sont était étaient été ai as a avons avez ont avait avais avaient avions eu être avoir fait faire peux peut",
  verbs:
    "dire dit dites disait disions parler parlé parlait parlions discuter discuté discutions écrire écrit raconter raconté passer passé passait arriver arrivé produit demander demandé évoqué mentionné parlais disais décidé convenu bavardé échangé montre cherche trouve résume résumer rappelle rappeler raconte dis étions souviens souvenir portait portaient reste restés",
  others:
    "de d du des le la les l un une à au aux en y et ou avec sur ça cela là encore neuf nouveau depuis notre nos mon ma résumé exactement déjà stp conversation conversations message messages sujet sujets discussion n ne pas",
}

const spanish: EmptyWords = {
  questions: "qué que quién quien cuál cual cuáles cuándo cuando dónde donde cómo como por porqué",
  people:
    "yo me mí nosotros nos tú te ti usted ustedes vosotros os él ella ellos ellas se lo todo algo cosa cosas",
  helpers:
    "es son fue fueron era eran ser está están estaba estábamos estuvimos habías habíamos estuvo he has ha hemos habéis han había hay hubo puedes",
  verbs:
    "decir digo dice dije dijo dijimos dijiste dijeron dicho hablar hablo habla hablé habló hablamos hablaste hablaron hablado hablábamos conversar conversamos charlar charlamos discutir discutimos discutido comentar comentamos comentado mencionar mencionamos mencionado escribir escribí escribió escribimos escrito pasar pasa pasó pasado ocurrir ocurrió ocurrido sucedió suceder sucedido hacer hice hizo hicimos hecho preguntar pregunté preguntó contar conté contó contamos contaste contado hablando diciendo acordamos decidimos tratamos muestra busca resume resúmeme resumir recuerdas recuerda recordar recordarme recuérdame acuerdas dime cuéntame hazme dame quedamos quedó íbamos vimos",
  others:
    "de del el la los las un una unos a al en y o con sobre acerca eso esto ahí otra vez exactamente favor conversación conversaciones mensaje mensajes tema temas chat resumen desde nuestra nuestro hasta",
}

/** Without marks: many leave them out. */
const folded = (text: string): string => text.toLowerCase().normalize("NFD").replaceAll(/\p{M}/gu, "")

const allWords = (): ReadonlySet<string> =>
  new Set(
    [english, german, french, spanish].flatMap((language) =>
      Object.values(language).flatMap((list) => folded(list).split(" ")),
    ),
  )
/** Made by the first query that asks for a time. */
let words: ReadonlySet<string> | undefined

/** What a question or a request for what was said begins with. */
const beginnings: ReadonlySet<string> = new Set(
  [
    ...[english, german, french, spanish].map(({ questions }) => questions),
    "is are was were do does did has have had can could tell remind remember recall show list find",
    "ist war hat habe hast haben kannst weißt sag sage nenne erinnere erinnerst zeig zeige such suche finde",
    "est as avez dis dites rappelle rappelez montre montrez cherche trouve",
    "es fue has ha dime dígame recuerda recuérdame muestra muéstrame busca encuentra",
  ].flatMap((list) => folded(list).split(" ")),
)

/** Chinese asks with these, wherever they stand. */
const chineseQuestion = /[吗嗎呢谁誰哪]|什么|什麼|甚麼|怎么|怎麼|多少|提醒我|记得|記得/u

/** Whether a text begins as a question does, with or without a question mark. */
export const beginsWithAQuestion = (text: string): boolean => {
  const start = text.slice(0, 200)
  const [first = ""] = folded(start).match(/[\p{L}\p{N}]+/u) ?? []
  return beginnings.has(first) || chineseQuestion.test(start)
}

/** Chinese does not separate its words: a text of these alone is empty. */
const chinese = new RegExp(
  `^(?:${"我们|我們|咱们|咱們|大家|你们|你們|他们|他們|我|你|您|他|她|都|有|没有|是|在|到|对|對|跟|和|给|給|告诉|告訴|说|說|讲|講|聊|谈|談|讨论|討論|提|发生|發生|做|干|问|問|写|寫|过|過|了|些|一些|什么|什麼|甚麼|啥|哪些|怎么|怎麼|样|樣|事情|事|内容|內容|话题|話題|话|話|天|新|消息|新闻|新聞|对话|對話|的|得|吗|嗎|呢|啊|请|請|一下|记得|記得|总结|總結|回顾|回顧|哪里|哪裡|哪儿|哪兒|还|還|情况|情況|那|这|這|时候|時候|里|裡|关于|關於"})+$`,
  "u",
)

/**
 * Whether a text has no topic: nothing but empty words of a language.
 *
 * @example
 * hasNoTopic("Was ist passiert?") // true
 * hasNoTopic("Was ist mit der Bestellung passiert?") // false
 */
export const hasNoTopic = (text: string): boolean => {
  const known = (words ??= allWords())
  return folded(text)
    .split(/[^\p{L}\p{N}]+/u)
    .every((word) => word === "" || known.has(word) || chinese.test(word))
}
